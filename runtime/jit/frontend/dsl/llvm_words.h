// Room jit/frontend: how LLVM IR spells names, constants and operands.
#pragma once

#include "include/proteus/Frontend/IRValue.h"

#include <cstdint>
#include <string>

namespace proteus {

/// A name behind `%` or `@`, quoted where LLVM wants that.
std::string quotedName(const std::string& name);
/// As LLVM prints it: decimal where that is exact, else the bits of the double.
std::string floatingConstant(double value);
/// Writes a number in the type's width, with its sign.
std::string integerConstant(const IRType& type, uint64_t value);
/// `i32 %x`; an array is its address.
std::string operand(const IRValue& value);
/// Natural alignment in bytes.
unsigned alignmentOf(const IRType& type);
/// `zeroext ` or `signext ` for what is smaller than a register, as a parameter or result.
std::string extension(const IRType& type);

} // namespace proteus
