// Room passes: where the bodies of kernels are in the source.
#pragma once

#include <llvm/IR/Module.h>

#include <optional>

#include "runtime/core/abi/source_place.h"

namespace mneme::passes {

/// Returns where the body of a kernel is. None: the module has no lines.
///
/// An instance of a template that calls an object which its template arguments name is a launcher:
/// the body is the call operator of that object, and of the object that this one calls, and so on.
/// The first such call in the order of the code counts, also in functions that are called.
/// Works on code as the front end emits it.
std::optional<SourcePlace> placeOf(const llvm::Function& kernel);

} // namespace mneme::passes
