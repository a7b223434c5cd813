// Room passes: reads the marks of the JIT interface: annotate("jit", ...) and the calls of
// proteus::jit_arg, jit_array and jit_object.
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "passes/mark_list.h"

namespace mneme::passes {

/// Returns the marked functions in module order, with their marks sorted by argument and without
/// duplicates. Reports invalid marks, and the attribute on a function that cannot have it, as
/// compilation errors. Calls in such functions have no effect.
llvm::MapVector<llvm::Function*, Marks> readMarks(llvm::Module& module,
                                                  bool (*canHave)(const llvm::Function&));

/// Returns the functions with the attribute, whatever its arguments are.
llvm::SmallVector<llvm::Function*> annotatedFunctions(llvm::Module& module);

/// Removes the calls that marks were read from, and the called functions.
bool eraseMarkCalls(llvm::Module& module);

/// Removes the rows of annotate("jit", ...). For AMD GPUs clang gives rows with and without
/// arguments different types, so that relocatable device code that has both would not link.
bool eraseAnnotations(llvm::Module& module);

} // namespace mneme::passes
