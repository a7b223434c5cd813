// Room passes: device side. Gives functions whose address is data a name for it.
#pragma once

#include <llvm/IR/Module.h>

namespace mneme::passes {

/// Adds a cell (runtime/ir/function_cells.h) for every function whose address code or
/// variables of the module hold, and keeps constants that hold such addresses, vtables among them,
/// in the image: objects in memory point to them. Returns whether the module changed.
bool addFunctionCells(llvm::Module& module);

/// Vtables of abstract classes name functions that the vendor's library has no code for on every
/// device: what is undeclared of them becomes a trap. Returns whether the module changed.
bool definePureVirtual(llvm::Module& module);

} // namespace mneme::passes
