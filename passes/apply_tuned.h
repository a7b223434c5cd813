// Room passes: device side. Applies the part of a tuned-kernels file (docs/tuned-kernels.md) that
// an ahead-of-time build can apply.
#pragma once

#include <llvm/IR/Function.h>

#include <string>

#include "passes/build_facts.h"
#include "passes/static_hash.h"
#include "runtime/jit/tuned/file.h"

namespace mneme::passes {

/// Reads a tuned-kernels file the way a tuned run does. If that fails, sets `error` to a sentence.
tuned::File readTunedFile(const std::string& path, std::string& error);

/// Applies the settings in the entry of `kernel` in `file` that are valid for every launch: the
/// limit of registers per thread, which is how launch bounds and MaxRegisters reach the machine
/// code, and the pipeline (tuned_body.h). Must run before the ordinary pipeline. Warns about
/// settings that only a tuned run can apply (specialisation, other dimensions), a pipeline that
/// this compiler cannot run, and a stale kernel, whose IR (`identity`) differs from the tuned
/// one. `build` describes how the program is compiled. A kernel without an entry is left unchanged.
/// Returns whether the module changed.
bool applyTuned(llvm::Function& kernel, const CodeIdentity& identity, const tuned::File& file,
                const BuildFacts& build);

} // namespace mneme::passes
