// Room passes: reads the compiler's command line for facts that a plugin cannot get otherwise: the
// values of -mllvm options, and options that only the assembler receives.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

#include <string>
#include <vector>

namespace mneme::passes {

/// Command-line arguments without the program's name, with response files expanded. Empty where the
/// system does not provide them.
struct CompilerArguments {
  std::vector<std::string> own; ///< of this process: `clang -cc1` or the driver itself
  std::vector<std::string>
      driver; ///< of the driver that started this process; equal to `own` in the driver
};

/// Reads the arguments of this process. Its parent counts as the driver if it runs the same
/// program.
CompilerArguments compilerArguments();

/// Returns LLVM's option `name` as it was given, "name=value" or "name"; "name" if it is not found.
std::string givenOption(llvm::ArrayRef<std::string> arguments, llvm::StringRef name);

/// The way clang's driver runs ptxas.
struct AssemblerFacts {
  std::string level;                ///< "0".."3"; empty: unknown
  std::vector<std::string> options; ///< those of -Xcuda-ptxas as "name=value", without the level
};

/// Reads the driver's arguments. Without arguments everything is unknown.
AssemblerFacts assemblerFactsOf(llvm::ArrayRef<std::string> driver);

} // namespace mneme::passes
