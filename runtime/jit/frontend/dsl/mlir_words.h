// Room jit/frontend: how MLIR spells types, names and constants.
#pragma once

#include "include/proteus/Frontend/IRType.h"

#include <string>

namespace proteus {

/// `i32`, `!llvm.ptr<3>`, `!llvm.array<16 x f64>`; nothing for void.
std::string mlirType(const IRType& type);
/// The type of a variable's address in this space.
std::string mlirPointer(AddressSpace space);
/// `()`, `i32`, `(i1 {llvm.zeroext})`: the type of a result, or of a parameter, and what is done to
/// small integers.
std::string mlirExtension(const IRType& type);
/// A name behind `@`, quoted where MLIR wants that.
std::string mlirSymbol(const std::string& name);
/// A name behind `%`: like `hint`.
std::string mlirName(const std::string& hint);
std::string mlirFloat(const IRType& type, double value);

} // namespace proteus
