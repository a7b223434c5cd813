// Room passes: device side. Makes the addresses of device functions available to code that is
// compiled later. runtime/compiler/ir/function_cells.h explains cells.
#pragma once

#include <llvm/IR/Module.h>

namespace mneme::passes {

/// Adds a cell for every function whose address is taken in the module. Also keeps constants that
/// hold such addresses, such as vtables, in the image, because objects in memory point to them.
/// Returns whether the module changed.
bool addFunctionCells(llvm::Module& module);

/// Defines the functions that vtables of abstract classes name for pure virtual and deleted
/// functions, as a trap, where they are only declared: not every vendor's device library has them.
/// Returns whether the module changed.
bool definePureVirtual(llvm::Module& module);

} // namespace mneme::passes
