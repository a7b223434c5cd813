// Room passes: describes the members of structures that a kernel takes by value.
#pragma once

#include <llvm/Support/JSON.h>

#include <optional>

#include "passes/kernel_closure.h"

namespace mneme::passes {

/// Returns for each argument of the kernel the members that it reads, as the blob's "fields"
/// (runtime/core/abi/blob_format.h); nothing for arguments that are not structures by value, and
/// where LLVM fails.
llvm::SmallVector<std::optional<llvm::json::Array>> describeFields(const Closure& closure);

} // namespace mneme::passes
