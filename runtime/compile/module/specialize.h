// Room compile: what is known at compile time becomes part of the kernel.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>

#include "runtime/abi/mneme_compile.h"

namespace mneme::compile {

/// Replaces the uses of each given argument by its value. The signature stays.
/// \throws Error{InvalidArgument} for an index beyond the arguments, a size that is not the
/// argument's store size, or an argument that is neither integer, floating point nor plain pointer.
void specializeArguments(llvm::Function& kernel, const mneme_arg_value* values, size_t count);

/// Promises that the kernel is launched with at most `maxThreads` threads a block and, if not 0,
/// that `minBlocks` blocks shall fit on a multiprocessor. Replaces earlier promises.
void setLaunchBounds(llvm::Function& kernel, uint32_t maxThreads, uint32_t minBlocks);

/// Replaces reads of the grid and block dimensions in the whole module by constants, and bounds
/// block and thread indices.
void specializeDimensions(llvm::Module& module, const uint32_t grid[3], const uint32_t block[3]);

} // namespace mneme::compile
