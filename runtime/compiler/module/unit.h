// Room compiler: turns device modules that are made at run time into units.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "runtime/compiler/diagnostics.h"

namespace mneme::compile {

/// Gives a device module what the compiler plugin gives a unit that is built ahead of time: a blob
/// for each kernel (runtime/core/abi/blob_format.h). Functions without a processor get `arch`
/// ("sm_90"). Functions of CUDA's device library are linked in if they are called.
/// \throws Error{NotFound} without that library (CUDA_HOME), Error{InvalidArgument} without kernels
void becomeUnit(llvm::Module& module, const std::string& arch, Diagnostics& diagnostics);

/// Makes the device variables that the blobs of a program's unit refer to the module's own, with
/// their initial values, as in the code that the unit was built with.
void defineVariables(llvm::Module& module);

/// Returns a relocatable object with the module's blobs and no code.
/// \throws Error{CompileFailed}
std::string blobObject(const llvm::Module& module, const Diagnostics& diagnostics);

} // namespace mneme::compile
