// Room passes: computes the identity of a kernel.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <cstdint>
#include <string>

namespace mneme::passes {

struct CodeIdentity {
  /// Hash of a closure and the kernel's name. It does not depend on the path of the source, debug
  /// information, the names of local values and internal symbols, or other code in the unit.
  uint64_t staticHash = 0;
  /// The same without the names of the kernel and of functions it uses, and without their order.
  /// The compiler numbers lambdas: where one is inserted, the names of all later ones change.
  uint64_t codeHash = 0;
};

/// Returns the identity of a closure (`bitcode`, from extractKernel). If LLVM cannot read the
/// bitcode back, returns zeros and sets `error`.
CodeIdentity identify(llvm::MemoryBufferRef bitcode, llvm::StringRef kernel, std::string& error);

} // namespace mneme::passes
