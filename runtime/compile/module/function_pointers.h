// Room compile: addresses of functions in memory that another module of the same program filled,
// through the cells the passes gave them (function_cells.h).
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

/// Makes `module` speak of functions as the program's own module does. Between detach() and
/// attach() the optimiser sees what it would see in the program: a function's address is that of
/// its cell, which is as good a constant, and a call through a pointer that turns out to be a
/// constant is a direct call.
class FunctionPointers {
public:
  /// Puts the cell's address in the place of each function's, and a question to be answered by
  /// attach() in front of every call through a pointer. False, and nothing changed, if there are no
  /// cells.
  bool detach(llvm::Module& module);

  /// Lets a pipeline that runs between the two fold reads; both objects must outlive it.
  void registerFolding(llvm::PassBuilder& builder) const;

  /// Reads cells where addresses are used as data, and compares with them where pointers are
  /// called. What no cell holds is called as it is, or is a trap with `trapsOnUnknown`: in memory
  /// of a program that is not running it leads nowhere.
  void attach(llvm::Module& module, bool trapsOnUnknown) const;

  /// Does both steps at once, for a module that is optimised later without knowing addresses.
  /// Variables start with a word for each function that is the same in every module, because
  /// functions have no address that several modules share.
  static void lower(llvm::Module& module);

private:
  void attach(llvm::Module& module, bool trapsOnUnknown,
              llvm::Constant* (*valueOf)(llvm::GlobalVariable& cell)) const;
  bool fold(llvm::Function& function) const;

  std::map<std::string, llvm::FunctionType*> questions_; ///< by name: what is called
};

} // namespace mneme::compile
