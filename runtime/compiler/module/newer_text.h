// Room compiler: text of LLVM IR that newer LLVMs write in another way.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

namespace mneme::compile {

/// Returns the text with floating-point numbers as LLVM 22 and older write them: "half f0x3C00",
/// "half 1.0" and "float +inf" become "half 0xH3C00" and "float 0x7FF0000000000000". The type is
/// the last one named before the number in its line. Numbers of other types and strings stay as
/// they are.
std::string withOlderFloats(llvm::StringRef text);

} // namespace mneme::compile
