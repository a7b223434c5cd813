// Room core/abi: arguments of kernels, and their values in launches. The passes write this
// description, programs contain it, recordings store it, and tuned launches are recognised by it.
#pragma once

#include <charconv>
#include <compare>
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

/// A member of a structure that is passed by value, and that the kernel reads.
struct ArgField {
  std::string name; ///< "s.n"; empty if unknown
  std::string type; ///< "i32"; "bytes" if it is no number and no pointer
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
  ArgKind kind = ArgKind::Unknown;
  bool isSpecializable = false; ///< its value can become a constant
};

/// An argument as in the kernel's code. Unknown fields are empty or 0.
struct KernelArg {
  std::string name;
  std::string type; ///< of the IR: "ptr", "i32", "struct.S"
  uint64_t sizeBytes = 0;
  uint64_t alignBytes = 0;
  ArgKind kind = ArgKind::Unknown;
  bool isSpecializable = false; ///< its value can become a constant
  /// What is read of a structure by value; nothing: unknown, so that all of it counts.
  std::optional<std::vector<ArgField>> fields = std::nullopt;

  /// Whether it has bytes of its own, which identify a launch.
  bool isValue() const { return kind != ArgKind::Pointer && sizeBytes > 0; }

  /// The member there; null if the kernel reads none.
  const ArgField* findField(uint64_t offset) const {
    if (fields)
      for (const ArgField& field : *fields)
        if (field.offset == offset)
          return &field;
    return nullptr;
  }

  /// Calls `visit(offset, sizeBytes, kind)` for each part that identifies a launch: values, no
  /// pointers, nothing that the kernel does not read.
  template <typename Visit> void visitValues(const Visit& visit) const {
    if (!isValue())
      return;
    if (!fields)
      return visit(uint64_t{0}, sizeBytes, kind);
    for (const ArgField& field : *fields)
      if (field.kind != ArgKind::Pointer)
        visit(field.offset, field.sizeBytes, field.kind);
  }
};

/// Names an argument; with an offset, a member of a structure that is passed by value.
struct ArgPath {
  uint32_t index = 0;
  std::optional<uint32_t> offset = std::nullopt; ///< bytes
  auto operator<=>(const ArgPath&) const = default;
};

/// Reads "2" or "0+8"; nothing if the text is no path.
inline std::optional<ArgPath> argPathOf(std::string_view text) {
  ArgPath path;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, path.index);
  if (error != std::errc())
    return std::nullopt;
  if (stop == end)
    return path;
  const auto [last, wrong] = std::from_chars(stop + 1, end, path.offset.emplace());
  if (*stop != '+' || wrong != std::errc() || last != end)
    return std::nullopt;
  return path;
}

/// The value of an argument, or of a member of it, in a launch.
struct ArgValue {
  uint32_t index = 0;
  std::vector<std::byte> bytes; ///< little endian
  ArgKind kind = ArgKind::Unknown;
  /// Type of the elements (enum mneme_constant_type) if `bytes` is a struct that is passed by
  /// value, or the memory that a pointer leads to. 0: `bytes` is the argument itself.
  int32_t content = 0;
  std::optional<uint32_t> offset = std::nullopt; ///< of a member, whose value `bytes` is

  ArgPath path() const { return {index, offset}; }
};

/// The place of such a value in a launch.
struct ArgPlace {
  uint32_t index = 0;
  uint32_t sizeBytes = 0;
  uint32_t offset = 0; ///< in the argument
  bool operator==(const ArgPlace&) const = default;
};

/// Calls `visit` with the path of each value of an argument that can become a constant.
template <typename Visit>
void visitConstants(uint32_t index, const KernelArg& arg, const Visit& visit) {
  if (arg.isSpecializable)
    visit(ArgPath{index});
  if (arg.fields)
    for (const ArgField& field : *arg.fields)
      if (field.isSpecializable)
        visit(ArgPath{index, static_cast<uint32_t>(field.offset)});
}

/// Returns the place of a value that visitConstants() visits.
inline ArgPlace placeOf(const ArgPath& path, const std::vector<KernelArg>& args) {
  const KernelArg& arg = args.at(path.index);
  if (!path.offset)
    return {path.index, static_cast<uint32_t>(arg.sizeBytes)};
  return {path.index, static_cast<uint32_t>(arg.findField(*path.offset)->sizeBytes), *path.offset};
}

/// Returns the value of an argument in place; `args` is as in mneme_launch.
inline std::span<const std::byte> argBytes(void* const* args, size_t index, uint64_t sizeBytes) {
  return {static_cast<const std::byte*>(args[index]), size_t(sizeBytes)};
}

} // namespace mneme
