// Room compile: from the bytes of a request to one linked module with the kernel in it.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/abi/mneme_compile.h"
#include "runtime/compile/diagnostics.h"

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

/// Links what loadAll() gave, in order. The result has a fixed identifier, so that equal requests
/// give equal output. `keepsUnitsApart`: what one unit calls of another one is not inlined there,
/// as in a program whose relocatable device code is linked.
/// \throws Error{CompileFailed} when they do not link
std::unique_ptr<llvm::Module> link(std::vector<std::unique_ptr<llvm::Module>> modules,
                                   Diagnostics& diagnostics, bool keepsUnitsApart);

/// \throws Error{NotFound} naming the kernel and those there are.
llvm::Function& findKernel(llvm::Module& module, const std::string& name);

} // namespace mneme::compile
