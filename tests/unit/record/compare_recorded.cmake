# Runs PROGRAM alone and recorded (RECORDER, RUNTIME preloaded) in DIRECTORY: its output and exit code
# must not change, and something must have been recorded.
file(REMOVE_RECURSE "${DIRECTORY}")
file(MAKE_DIRECTORY "${DIRECTORY}/data")
set(ENV{MNEME_CACHE_DIR} "${DIRECTORY}/../cache")
set(ENV{LD_PRELOAD} "${RUNTIME}")
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE alone RESULT_VARIABLE aloneStatus
  ERROR_QUIET)
set(ENV{LD_PRELOAD} "${RECORDER}:${RUNTIME}")
set(ENV{MNEME_DATA_DIR} "${DIRECTORY}/data")
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE recorded RESULT_VARIABLE recordedStatus
  ERROR_VARIABLE said)
unset(ENV{LD_PRELOAD})
message(STATUS "${recorded}${said}")
if(NOT aloneStatus EQUAL 0 OR NOT recordedStatus EQUAL 0)
  message(FATAL_ERROR "exit codes: alone ${aloneStatus}, recorded ${recordedStatus}; ${alone}")
elseif(NOT alone STREQUAL recorded)
  message(FATAL_ERROR "the output alone was: ${alone}")
endif()
file(GLOB records "${DIRECTORY}/data/*.json")
if(NOT records)
  message(FATAL_ERROR "nothing was recorded")
endif()
