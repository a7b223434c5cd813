// Room emulator/runtimes: the processor as the vendors' runtimes present it.
#pragma once

#include <string>

namespace mneme::cpu_runtime {

/// Returns the number of workers.
int multiprocessorCount() noexcept;
/// "CPU (AMD EPYC 7B13)"
const std::string& deviceName();

} // namespace mneme::cpu_runtime
