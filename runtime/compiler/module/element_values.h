// Room compiler: finds the type of a number from the code that computes it.
#pragma once

#include <llvm/IR/Type.h>
#include <llvm/IR/Value.h>

#include <set>
#include <string>

namespace mneme::compile {

/// Types of the elements of some memory, by their names in tolerances: "f64", "u32".
struct ElementEvidence {
  std::set<std::string> computed; ///< types of values that the kernel computes and stores
  std::set<std::string> moved;    ///< types of values that it only reads, copies, or sets to zero

  /// Returns the one type that fits; "" if there is none. Integers next to one floating-point type
  /// do not count: they are fields of the same structures, or the bits of the same numbers.
  std::string type() const;
};

/// Notes the types of all numbers in a value of this type.
void noteLeaves(llvm::Type* type, std::set<std::string>& types);

/// Notes the type of a value that is stored. An integer may be the bits of a floating-point number,
/// as if atomicCAS() stores one; the code before it shows that.
void noteStored(llvm::Value* value, ElementEvidence& evidence);

/// Notes the types that PTX names as suffixes ("red.global.add.f64"), if they are floating-point.
void noteAssembly(llvm::StringRef text, std::set<std::string>& types);

/// Whether an integer that atomicCAS() stores is the bits of a sum.
bool isSumOfFloats(llvm::Value* value);

} // namespace mneme::compile
