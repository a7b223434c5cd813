// Room passes: device side. What of a tuned-kernels file (docs/tuned-kernels.md) an ahead-of-time
// build can do.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>
#include <string>

#include "passes/build_facts.h"
#include "runtime/tuned/file.h"

namespace mneme::passes {

/// Reads a tuned-kernels file as a tuned run does. Sets `error` to a sentence if it cannot be read.
tuned::File readTunedFile(const std::string& path, std::string& error);

/// Applies to `kernel` what its entry in `file` says and what is right for every launch: a limit of
/// registers per thread, which is how launch bounds and MaxRegisters reach the machine code, and
/// the pipeline (tuned_body.h). Has to come before the ordinary pipeline. Reports as a warning
/// what is left to a tuned run (specialisation, other dimensions), a pipeline that this compiler
/// cannot run, and a kernel that is stale: its IR, known by `staticHash`, is not the tuned one.
/// `build` is how the program is compiled. A kernel without entry stays as it is. Returns whether
/// the module changed.
bool applyTuned(llvm::Function& kernel, uint64_t staticHash, const tuned::File& file,
                const BuildFacts& build);

} // namespace mneme::passes
