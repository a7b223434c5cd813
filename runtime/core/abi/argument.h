// Room core/abi: arguments of kernels, and their values in launches. The passes write this
// description, programs contain it, recordings store it, and tuned launches are recognised by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mneme {

/// Unknown: the recording or program does not say.
enum class ArgKind : uint8_t { Unknown, Pointer, Integer, Float, Aggregate };

/// Names of kinds in blobs and recordings.
inline constexpr std::string_view kArgKindNames[] = {"", "pointer", "integer", "float",
                                                     "aggregate"};

constexpr std::string_view nameOf(ArgKind kind) { return kArgKindNames[size_t(kind)]; }

/// Returns nothing if no kind has this name.
constexpr std::optional<ArgKind> argKindOf(std::string_view name) {
  for (size_t kind = 0; kind < std::size(kArgKindNames); ++kind)
    if (kArgKindNames[kind] == name)
      return ArgKind(kind);
  return std::nullopt;
}

/// An argument as in the kernel's code. Unknown fields are empty or 0.
struct KernelArg {
  std::string name;
  std::string type; ///< of the IR: "ptr", "i32", "struct.S"
  uint64_t sizeBytes = 0;
  uint64_t alignBytes = 0;
  ArgKind kind = ArgKind::Unknown;
  bool isSpecializable = false; ///< its value can become a constant

  /// Whether it has bytes of its own, which identify a launch.
  bool isValue() const { return kind != ArgKind::Pointer && sizeBytes > 0; }
};

/// The value of an argument in a launch.
struct ArgValue {
  uint32_t index = 0;
  std::vector<std::byte> bytes; ///< little endian
  ArgKind kind = ArgKind::Unknown;
  /// Type of the elements (enum mneme_constant_type) if `bytes` is a struct that is passed by
  /// value, or the memory that a pointer leads to. 0: `bytes` is the argument itself.
  int32_t content = 0;
};

/// The place of such a value in a launch.
struct ArgPlace {
  uint32_t index = 0;
  uint32_t sizeBytes = 0;
  bool operator==(const ArgPlace&) const = default;
};

/// Returns the value of an argument in place; `args` is as in mneme_launch.
inline std::span<const std::byte> argBytes(void* const* args, size_t index, uint64_t sizeBytes) {
  return {static_cast<const std::byte*>(args[index]), size_t(sizeBytes)};
}

} // namespace mneme
