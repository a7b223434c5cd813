// Room passes: the identity of a kernel.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <cstdint>
#include <string>

namespace mneme::passes {

/// Hash of a closure (`bitcode`, from extractKernel) and of the kernel's name. Equal closures have
/// equal hashes whatever the path of the source, the debug information, the names of local values
/// and of internal symbols, and whatever else was in the translation unit. Returns 0 and sets
/// `error` if LLVM does not read the bitcode back.
uint64_t staticHash(llvm::MemoryBufferRef bitcode, llvm::StringRef kernel, std::string& error);

} // namespace mneme::passes
