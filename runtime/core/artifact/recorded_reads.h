// Room core/artifact: what a kernel reads besides memory, by the words of
// passes/unrecorded_reads.h.
#pragma once

#include <string_view>

#include "runtime/core/abi/read_words.h"

namespace mneme::artifact {

/// Whether a recording of a launch may hold it: Instance::textures.
constexpr bool isOfTextures(std::string_view read) noexcept {
  return read == "textures" || read == "surfaces";
}

/// Whether a recording made on the CPU device holds it, or notes launches for which it does not:
/// textures and surfaces are in ordinary memory there, and its heap is watched.
constexpr bool isRecordedOnCpu(std::string_view read) noexcept {
  return isOfTextures(read) || read == read_words::kHeap;
}

} // namespace mneme::artifact
