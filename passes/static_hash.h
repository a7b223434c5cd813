// Room passes: computes the identity of a kernel.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <cstdint>
#include <string>

namespace mneme::passes {

/// Returns the hash of a closure (`bitcode`, from extractKernel) and the kernel's name. The hash
/// does not depend on the path of the source, debug information, the names of local values and
/// internal symbols, or other code in the translation unit. If LLVM cannot read the bitcode back,
/// returns 0 and sets `error`.
uint64_t staticHash(llvm::MemoryBufferRef bitcode, llvm::StringRef kernel, std::string& error);

} // namespace mneme::passes
