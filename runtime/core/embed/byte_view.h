// Room core/embed: bounds-checked reading of foreign bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "runtime/core/base/error.h"

namespace mneme::embed {

using Bytes = std::span<const std::byte>;

/// Returns `size` bytes at `offset`, or nothing if they are not all inside. Never overflows.
inline std::optional<Bytes> slice(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    return std::nullopt;
  return bytes.subspan(offset, size);
}

/// Like slice(). \throws Error{ArtifactCorrupt} naming `what`.
inline Bytes requireSlice(Bytes bytes, uint64_t offset, uint64_t size, const char* what) {
  if (std::optional<Bytes> part = slice(bytes, offset, size))
    return *part;
  throw Error(ErrorCode::ArtifactCorrupt,
              std::string("the device image is damaged: its ") + what + " lies outside of it");
}

/// Reads a little-endian structure at `offset`, with any alignment.
/// \throws Error{ArtifactCorrupt} naming `what`.
template <typename Structure>
  requires std::is_trivially_copyable_v<Structure>
Structure readAt(Bytes bytes, uint64_t offset, const char* what) {
  Structure result;
  std::memcpy(&result, requireSlice(bytes, offset, sizeof(result), what).data(), sizeof(result));
  return result;
}

} // namespace mneme::embed
