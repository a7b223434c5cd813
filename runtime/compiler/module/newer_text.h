// Room compiler: text of LLVM IR that newer LLVMs write in another way.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

namespace mneme::compile {

/// Returns the text with the bits of floating-point numbers as LLVM 22 and older write them:
/// "half f0x3C00" becomes "half 0xH3C00". The type is the last one named before the number in its
/// line. Numbers of other types and strings stay as they are.
std::string withOlderFloats(llvm::StringRef text);

} // namespace mneme::compile
