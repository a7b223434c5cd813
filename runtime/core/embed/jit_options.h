// Room core/embed: options by which a program has its driver compile PTX. They stand in the first
// line of recorded PTX, a comment, so that a replay compiles what the program ran.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/core/embed/code_image.h"

namespace mneme::embed {

/// A number of the driver's (7: the level of optimization) and its value.
using JitOption = std::pair<int, uint64_t>;

/// What a program gives its driver: numbers, and values in the places of pointers. All may be null.
struct GivenOptions {
  const int* options = nullptr;
  void* const* values = nullptr;
  unsigned count = 0;
};

/// Returns those that change what the code does or how fast it is, in the order of their numbers.
/// Call it before the driver does, which writes results over values. Returns none without memory:
/// it is other code than the file has then.
std::vector<JitOption> jitOptionsOf(const GivenOptions& given) noexcept;

/// Returns PTX with a line of its options, also of a fat binary whose PTX the driver compiles on a
/// GPU of an architecture ("sm_90"). Other images, and those without options, are returned as they
/// are.
CodeImage withJitOptions(CodeImage image, const std::vector<JitOption>& options,
                         std::string_view architecture);

/// Returns what such a line says; nothing for other code.
std::vector<JitOption> jitOptionsIn(std::string_view ptx);
/// The same of an image in memory: text with zero at its end, or anything else.
std::vector<JitOption> jitOptionsAt(const void* image);
/// Sets a number in such a line where the line has it: it may count more than what the code says.
/// Zero leaves it.
void setJitNumber(std::string& ptx, int number, uint32_t value);

/// The numbers of options that ptxas has as well.
inline constexpr int kJitMaxRegisters = 0, kJitLevel = 7;
/// Bounds that a kernel's code may state as well.
inline constexpr int kJitMinBlocks = 31, kJitMaxThreads = 32;
/// The architecture to compile for, as CUDA counts them: 90, 0x1005a for "90a".
inline constexpr int kJitTarget = 9;

} // namespace mneme::embed
