// Room core/base: bounds-checked reading of foreign bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace mneme {

using Bytes = std::span<const std::byte>;

/// Whether `size` bytes at `offset` are all among the first `total`. Never overflows.
constexpr bool isInside(uint64_t total, uint64_t offset, uint64_t size) {
  return offset <= total && size <= total - offset;
}

/// Returns `size` bytes at `offset`, or nothing if they are not all inside.
inline std::optional<Bytes> slice(Bytes bytes, uint64_t offset, uint64_t size) {
  return isInside(bytes.size(), offset, size) ? std::optional(bytes.subspan(offset, size))
                                              : std::nullopt;
}

/// Reads a little-endian structure at `offset`, with any alignment; nothing if not all of it is
/// inside.
template <typename Structure>
  requires std::is_trivially_copyable_v<Structure>
std::optional<Structure> valueAt(Bytes bytes, uint64_t offset) {
  const std::optional<Bytes> part = slice(bytes, offset, sizeof(Structure));
  if (!part)
    return std::nullopt;
  Structure value;
  std::memcpy(&value, part->data(), sizeof value);
  return value;
}

/// Returns the zero-terminated text at `offset`: cut off at the end, empty outside.
inline std::string_view textAt(Bytes bytes, uint64_t offset) {
  if (offset >= bytes.size())
    return {};
  const auto* begin = reinterpret_cast<const char*>(bytes.data()) + offset;
  return {begin, strnlen(begin, bytes.size() - offset)};
}

} // namespace mneme
