// A CUDA runtime whose functions return at once, so that only the launch path is measured.
struct Dim3 {
  unsigned x, y, z;
};

extern "C" {
int cudaLaunchKernel(const void*, Dim3, Dim3, void**, unsigned long, void*) { return 0; }
int cudaDeviceSynchronize() { return 0; }
unsigned __cudaPushCallConfiguration(Dim3, Dim3, unsigned long, void*) { return 0; }
int __cudaPopCallConfiguration(Dim3*, Dim3*, unsigned long*, void*) { return 0; }
void** __cudaRegisterFatBinary(void*) {
  static void* handle;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*) {}
}
