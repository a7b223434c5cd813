// Room core/embed: names of what CUDA's device runtime and the driver give kernels. They are in no
// documentation; nvcc 12 and 13 leave them in PTX and machine code.
#pragma once

#include <algorithm>
#include <string_view>

#include "runtime/core/abi/read_words.h"

namespace mneme::embed::device_runtime {

using read_words::kHeap, read_words::kLaunches, read_words::kConditions;

struct Name {
  std::string_view text;
  bool isWhole;     ///< names that only begin so are others
  const char* read; ///< in the words of passes/unrecorded_reads.h
};

/// Functions that are not in an image: of the runtime, in PTX, and what it calls itself, in what is
/// linked.
constexpr Name kFunctions[] = {{"malloc", true, kHeap},
                               {"free", true, kHeap},
                               {"__cudaCDP2LaunchDevice", false, kLaunches},
                               {"cudaLaunchDevice", false, kLaunches},
                               {"__cuda_syscall_cnpv2LaunchDevice", false, kLaunches},
                               {"cudaGraphSetConditional", false, kConditions}};

/// Variables of the runtime: tables that point to each other, and never change.
constexpr std::string_view kVariablesBegin = "cudartError";
constexpr std::string_view kVersion = "__CNPRT_VERSION_NUMBER__";
constexpr std::string_view kVariablesHave = "_cuda_device_runtime_cu_";

/// What a function reads that a recording does not hold; null if it is none of these.
constexpr const char* readOf(std::string_view function) {
  const auto* const found = std::ranges::find_if(kFunctions, [&](const Name& name) {
    return name.isWhole ? function == name.text : function.starts_with(name.text);
  });
  return found == std::ranges::end(kFunctions) ? nullptr : found->read;
}

/// Whether code that launches kernels contains the variable.
constexpr bool hasVariable(std::string_view name) {
  return name.starts_with(kVariablesBegin) || name == kVersion ||
         name.find(kVariablesHave) != std::string_view::npos;
}

} // namespace mneme::embed::device_runtime
