// Room passes: reads the marks of the JIT interface: annotate("jit", ...) and the calls of
// proteus::jit_arg, jit_array and jit_object.
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "runtime/abi/jit_mark.h"

namespace mneme::passes {

/// What is marked in one function. Without any mark of an argument the function is compiled at run
/// time all the same, for the dimensions of a launch.
using Marks = llvm::SmallVector<mneme_jit_mark, 4>;

/// Marked functions with their marks, each argument once, ascending; in module order. What makes no
/// sense is reported as an error of the compilation, and so is the attribute on a function that
/// cannot have it. Calls in such functions have no effect.
llvm::MapVector<llvm::Function*, Marks> readMarks(llvm::Module& module,
                                                  bool (*canHave)(const llvm::Function&));

/// Functions with the attribute, whatever its arguments.
llvm::SmallVector<llvm::Function*> annotatedFunctions(llvm::Module& module);

/// Removes the calls that marks were read from, and the functions that were called.
bool eraseMarkCalls(llvm::Module& module);

/// Removes the rows of annotate("jit", ...). For AMD GPUs clang gives rows without arguments
/// another type than those with, so that relocatable device code of both would not link.
bool eraseAnnotations(llvm::Module& module);

/// Reports `reason` as an error of the compilation, in the form of the reference tool; `place` is
/// "<file>:<line>".
void reportFatal(llvm::Module& module, const llvm::Twine& place, const llvm::Twine& reason);

} // namespace mneme::passes
