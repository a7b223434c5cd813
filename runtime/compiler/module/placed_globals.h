// Room compiler: device variables at fixed addresses.
#pragma once

#include <llvm/IR/Module.h>

#include "runtime/core/abi/mneme_compile.h"

namespace mneme::compile {

/// Replaces each named variable in device memory by its address, and removes the variable with its
/// initialiser. If the address is null, functions read it from the constant placeVariable(name) at
/// their begin. Ignores unknown names, and variables in constant or shared memory.
/// \throws Error{InvalidArgument} for a place without a name; Error{Unsupported} when a variable
/// that stays in the image is initialised with an address that is not known yet.
void placeGlobals(llvm::Module& module, const mneme_global_place* places, size_t count);

} // namespace mneme::compile
