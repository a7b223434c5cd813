// Room compiler: AMD's names of processors and of their features (LLVM, User Guide for AMDGPU
// Backend, "Processors" and "Target ID").
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <utility>

namespace mneme::compile {

/// "gfx90a:sramecc+:xnack-" as LLVM's processor and features: "gfx90a", "+sramecc,-xnack".
/// \throws Error{InvalidArgument} for another feature.
std::pair<std::string, std::string> splitTargetId(const std::string& id);

/// Threads of a wave unless a function says otherwise: 64 up to GFX9, 32 from GFX10 on; 0: not
/// known.
unsigned usualWaveSize(llvm::StringRef cpu);

/// `features` and what the functions of `module` say besides: whether memory may fault (xnack) and
/// is checked (sramecc), where they were compiled for `cpu`, and waves of 64 where 32 are usual.
/// \throws Error{Unsupported} if they were compiled for waves of another size: host and device code
/// have to agree on it.
std::string amdFeatures(const llvm::Module& module, const std::string& cpu, std::string features);

} // namespace mneme::compile
