// Room device/cpu/cudart: the processor, as any vendor's runtime presents it.
#pragma once

#include <string>

namespace mneme::cudart {

/// The number of workers.
int multiprocessorCount() noexcept;
/// "CPU (AMD EPYC 7B13)"
const std::string& deviceName();

} // namespace mneme::cudart
