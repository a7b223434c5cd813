# Writes SOURCE: every function that LIBRARY exports, as a stub that programs are linked with. As in
# NVIDIA's, a call of one says that this is a stub.
execute_process(COMMAND "${NM}" -D --defined-only "${LIBRARY}" OUTPUT_VARIABLE listed
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[ \t]cu[A-Z][A-Za-z0-9_]*" functions "${listed}")
set(content "// Made from libmneme_cuda_driver.so.\n")
foreach(function IN LISTS functions)
  string(STRIP "${function}" function)
  string(APPEND content
    "extern \"C\" [[gnu::visibility(\"default\")]] int ${function}() { return 34; }\n")
endforeach()
file(WRITE "${SOURCE}" "${content}")
