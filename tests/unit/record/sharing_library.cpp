// Passes for a library that looks the function up by its name, as MPI's do.
extern "C" __attribute__((visibility("default"))) const char* nameOfWhatItCalls() {
  return "cuIpcGetMemHandle";
}
