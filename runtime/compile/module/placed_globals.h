// Room compile: device variables at fixed addresses.
#pragma once

#include <llvm/IR/Module.h>

#include "runtime/abi/mneme_compile.h"

namespace mneme::compile {

/// Uses of each named variable in device memory become its address, and the variable goes away with
/// its initialiser. With the null address, functions read the address from the constant
/// placeVariable(name) where they begin. Names the module lacks, and variables in constant or
/// shared memory, are left alone.
/// \throws Error{InvalidArgument} for a place without a name; Error{Unsupported} when a variable
/// that stays in the image is initialised with an address that is not known yet.
void placeGlobals(llvm::Module& module, const mneme_global_place* places, size_t count);

} // namespace mneme::compile
