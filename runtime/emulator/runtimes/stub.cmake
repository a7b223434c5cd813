# Writes SOURCE: every function of CUDA's that LIBRARY exports, as a stub that programs are linked with. As in
# NVIDIA's, a call of one says by its RESULT that this is a stub.
execute_process(COMMAND "${NM}" -D --defined-only "${LIBRARY}" OUTPUT_VARIABLE listed
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[ \t](cu|nvml)[A-Z][A-Za-z0-9_]*" functions "${listed}")
get_filename_component(name "${LIBRARY}" NAME)
set(content "// Made from ${name}.\n")
foreach(function IN LISTS functions)
  string(STRIP "${function}" function)
  string(APPEND content
    "extern \"C\" [[gnu::visibility(\"default\")]] int ${function}() { return ${RESULT}; }\n")
endforeach()
file(WRITE "${SOURCE}" "${content}")
