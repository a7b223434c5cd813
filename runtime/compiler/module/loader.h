// Room compiler: makes one linked module with the kernel from the bytes of a request.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/compiler/diagnostics.h"
#include "runtime/core/abi/mneme_compile.h"

namespace mneme::compile {

/// Parses bitcode or textual IR and verifies it. `name` names it in messages ("module 0").
/// \throws Error{ArtifactCorrupt} with LLVM's message.
std::unique_ptr<llvm::Module> loadModule(mneme_bytes bytes, const std::string& name,
                                         llvm::LLVMContext& context, Diagnostics& diagnostics);

/// Loads `count` modules, at least one.
/// \throws Error{ArtifactCorrupt} for bad IR
std::vector<std::unique_ptr<llvm::Module>> loadAll(const mneme_bytes* modules, size_t count,
                                                   llvm::LLVMContext& context,
                                                   Diagnostics& diagnostics);

/// Links the modules of loadAll(), in order. The result has a fixed identifier, so that equal
/// requests give equal output. `keepsUnitsApart`: calls between units are not inlined, as in a
/// program whose relocatable device code is linked.
/// \throws Error{CompileFailed} when they do not link
std::unique_ptr<llvm::Module> link(std::vector<std::unique_ptr<llvm::Module>> modules,
                                   Diagnostics& diagnostics, bool keepsUnitsApart);

/// \throws Error{NotFound} naming the kernel and the existing ones.
llvm::Function& findKernel(llvm::Module& module, const std::string& name);

} // namespace mneme::compile
