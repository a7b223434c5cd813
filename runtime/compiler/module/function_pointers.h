// Room compiler: handles addresses of functions in memory that another module of the program has
// written, through the cells of the passes (function_cells.h).
#pragma once

#include <llvm/IR/Module.h>

#include <map>
#include <string>

namespace llvm {
class Constant;
class Function;
class FunctionType;
class GlobalVariable;
class PassBuilder;
} // namespace llvm

namespace mneme::compile {

/// Makes `module` use the addresses of functions in the program's own module. Between detach() and
/// attach() the optimiser sees the same as in the program: a function's address is that of its
/// cell, which is also a constant, and a call through a pointer that becomes constant is a direct
/// call.
class FunctionPointers {
public:
  /// Replaces the address of each function by that of its cell, and inserts a placeholder for
  /// attach() before every call through a pointer. Returns false, with nothing changed, if there
  /// are no cells.
  bool detach(llvm::Module& module);

  /// Lets a pipeline that runs between the two fold reads of cells. Both objects must outlive it.
  void registerFolding(llvm::PassBuilder& builder) const;

  /// Inserts reads of cells where addresses are used as data, and comparisons with cells where
  /// pointers are called. A pointer that no cell contains is called directly, or traps with
  /// `trapsOnUnknown`: in memory of a program that is not running it leads nowhere.
  void attach(llvm::Module& module, bool trapsOnUnknown) const;

  /// Does both steps at once, for a module that is optimised later without known addresses. In
  /// initial values, each function is a word that is the same in every module, because modules do
  /// not share addresses of functions.
  static void lower(llvm::Module& module);

private:
  void attach(llvm::Module& module, bool trapsOnUnknown,
              llvm::Constant* (*valueOf)(llvm::GlobalVariable& cell)) const;
  bool fold(llvm::Function& function) const;

  std::map<std::string, llvm::FunctionType*>
      questions_; ///< placeholders by name: the type of the called function
};

} // namespace mneme::compile
