// Room emulator/executor: names of the environment variables that users set for the vendors'
// runtimes on the CPU device. They are named after the first runtime but apply to all.
#pragma once

namespace mneme::cpu_runtime {

inline constexpr const char* kTimeoutVariable = "MNEME_CUDART_TIMEOUT";
inline constexpr const char* kHeapAddressVariable = "MNEME_CUDART_HEAP_ADDRESS";
inline constexpr const char* kGlobalsAddressVariable = "MNEME_CUDART_GLOBALS_ADDRESS";

} // namespace mneme::cpu_runtime
