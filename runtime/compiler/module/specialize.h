// Room compiler: builds values that are known at compile time into the kernel.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>
#include <string>

#include "runtime/core/abi/mneme_compile.h"

namespace mneme::compile {

/// Lines about specialisation, as the reference tool writes them; null: not wanted.
using TraceText = std::string*;

/// Replaces the uses of each given argument by its value or its content, but for members of
/// structures (struct_members.h). The signature stays.
/// \throws Error{InvalidArgument} for an index beyond the arguments, a size that is not the
/// argument's store size, or an argument that cannot have such a value.
void specializeArguments(llvm::Function& kernel, const mneme_arg_value* values, size_t count,
                         TraceText trace);

/// Promises that the kernel is launched with at most `maxThreads` threads per block and requests,
/// if not 0, that `minBlocks` blocks fit on a multiprocessor. Replaces earlier bounds.
void setLaunchBounds(llvm::Function& kernel, uint32_t maxThreads, uint32_t minBlocks,
                     TraceText trace);

/// Replaces reads of the grid and block dimensions in the whole module by constants.
void foldDimensions(llvm::Module& module, const uint32_t grid[3], const uint32_t block[3],
                    TraceText trace);
/// Marks block and thread indices as smaller than the dimensions.
void boundIndices(llvm::Module& module, const uint32_t grid[3], const uint32_t block[3],
                  TraceText trace);

} // namespace mneme::compile
