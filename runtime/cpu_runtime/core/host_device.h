// Room cpu_runtime: the processor, as any vendor's runtime presents it.
#pragma once

#include <string>

namespace mneme::cpu_runtime {

/// The number of workers.
int multiprocessorCount() noexcept;
/// "CPU (AMD EPYC 7B13)"
const std::string& deviceName();

} // namespace mneme::cpu_runtime
