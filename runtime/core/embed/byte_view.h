// Room core/embed: bounds-checked reading of device images, in which nothing may be missing.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "runtime/core/base/bytes.h"
#include "runtime/core/base/error.h"

namespace mneme::embed {

/// \throws Error{ArtifactCorrupt} naming `what`
[[noreturn]] inline void refuseOutside(const char* what) {
  throw Error(ErrorCode::ArtifactCorrupt,
              std::string("the device image is damaged: its ") + what + " lies outside of it");
}

/// Returns what was found. \throws as refuseOutside() if that is nothing.
template <typename Value> Value require(std::optional<Value> found, const char* what) {
  if (!found)
    refuseOutside(what);
  return *std::move(found);
}

/// Like slice(). \throws as require()
inline Bytes requireSlice(Bytes bytes, uint64_t offset, uint64_t size, const char* what) {
  return require(slice(bytes, offset, size), what);
}

/// Like valueAt(). \throws as require()
template <typename Structure> Structure readAt(Bytes bytes, uint64_t offset, const char* what) {
  return require(valueAt<Structure>(bytes, offset), what);
}

} // namespace mneme::embed
