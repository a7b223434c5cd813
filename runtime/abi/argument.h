// Room abi: what an argument of a kernel is, and its value in a launch. The one description that
// the passes write, programs carry, recordings keep and tuned launches are told apart by.
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

/// Unknown: whoever wrote it down did not say.
enum class ArgKind : uint8_t { Unknown, Pointer, Integer, Float, Aggregate };

/// As blobs and recordings spell kinds.
inline constexpr std::string_view kArgKindNames[] = {"", "pointer", "integer", "float",
                                                     "aggregate"};

constexpr std::string_view nameOf(ArgKind kind) { return kArgKindNames[size_t(kind)]; }

/// None: no kind is spelled so.
constexpr std::optional<ArgKind> argKindOf(std::string_view name) {
  for (size_t kind = 0; kind < std::size(kArgKindNames); ++kind)
    if (kArgKindNames[kind] == name)
      return ArgKind(kind);
  return std::nullopt;
}

/// An argument as the kernel's code has it. What nobody said is empty or 0.
struct KernelArg {
  std::string name;
  std::string type; ///< of the IR: "ptr", "i32", "struct.S"
  uint64_t sizeBytes = 0;
  uint64_t alignBytes = 0;
  ArgKind kind = ArgKind::Unknown;
  bool isSpecializable = false; ///< its value can become a constant

  /// Whether it has bytes of its own that a launch is known by.
  bool isValue() const { return kind != ArgKind::Pointer && sizeBytes > 0; }
};

/// The value of an argument in a launch.
struct ArgValue {
  uint32_t index = 0;
  std::vector<std::byte> bytes; ///< little endian
  ArgKind kind = ArgKind::Unknown;
  /// What the elements are (enum mneme_constant_type) of a struct that is passed by value, or of
  /// what a pointer leads to, where `bytes` holds that. 0: `bytes` is the argument itself.
  int32_t content = 0;
};

/// Where a launch has such a value.
struct ArgPlace {
  uint32_t index = 0;
  uint32_t sizeBytes = 0;
  bool operator==(const ArgPlace&) const = default;
};

/// The value of an argument, where it lies: `args` as in mneme_launch.
inline std::span<const std::byte> argBytes(void* const* args, size_t index, uint64_t sizeBytes) {
  return {static_cast<const std::byte*>(args[index]), size_t(sizeBytes)};
}

} // namespace mneme
