// Room passes: the compiler's command line, for what it tells no plugin: values behind -mllvm, and
// what goes to the assembler alone.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

#include <string>
#include <vector>

namespace mneme::passes {

/// Arguments without the program's name, response files read. Empty where the system does not say.
struct CompilerArguments {
  std::vector<std::string> own; ///< of the process at hand: of `clang -cc1`, or the driver itself
  std::vector<std::string> driver; ///< of the clang that runs it; its own if it is the driver
};

/// Reads what this process was started with. Its parent counts as the driver if it runs the same
/// program.
CompilerArguments compilerArguments();

/// "name=value" or "name", as the option `name` of LLVM was given; "name" if it is not found.
std::string givenOption(llvm::ArrayRef<std::string> arguments, llvm::StringRef name);

/// How clang's driver runs ptxas.
struct AssemblerFacts {
  std::string level;                ///< "0".."3"; empty: unknown
  std::vector<std::string> options; ///< of -Xcuda-ptxas, values behind '=', without the level
};

/// Reads the driver's arguments; where there are none, nothing is known.
AssemblerFacts assemblerFactsOf(llvm::ArrayRef<std::string> driver);

} // namespace mneme::passes
