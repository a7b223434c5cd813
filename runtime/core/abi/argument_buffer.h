// Room core/abi: arguments of a launch packed in one buffer, as vendors' functions take them for
// code that a program loads itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/core/abi/argument.h"

namespace mneme {

/// Finds each argument in the buffer that `extra` names: {1, buffer, 2, &bytes, 3}; 0 ends it, too.
/// Returns false if `extra` has another form, or if the buffer is too small.
inline bool unpackArguments(void* const* extra, std::span<const KernelArg> args,
                            std::vector<void*>& places) {
  constexpr uintptr_t kBuffer = 1, kBytes = 2, kEnd = 3;
  char* buffer = nullptr;
  size_t bytes = 0;
  for (; extra && *extra && reinterpret_cast<uintptr_t>(*extra) != kEnd; extra += 2) {
    if (reinterpret_cast<uintptr_t>(*extra) == kBuffer)
      buffer = static_cast<char*>(extra[1]);
    else if (reinterpret_cast<uintptr_t>(*extra) == kBytes && extra[1])
      bytes = *static_cast<const size_t*>(extra[1]);
    else
      return false;
  }
  size_t at = 0;
  for (const KernelArg& arg : args) {
    const size_t alignment = arg.alignBytes ? arg.alignBytes : 1;
    at = (at + alignment - 1) / alignment * alignment;
    if (!buffer || at + arg.sizeBytes > bytes)
      return false;
    places.push_back(buffer + at);
    at += arg.sizeBytes;
  }
  return true;
}

} // namespace mneme
