# Writes ENTRY(number, name) for every function of the vendor's that LIBRARY exports into OUTPUT,
# read by the symbol reader NM.
execute_process(COMMAND "${NM}" -D --defined-only "${LIBRARY}" OUTPUT_VARIABLE text
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(_Z2[234]|__)?hip[A-Za-z0-9_]+" names "${text}")
list(SORT names)
set(number 0)
set(content "")
foreach(name IN LISTS names)
  string(APPEND content "ENTRY(${number}, ${name})\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUTPUT}" "${content}")
