// Room passes: words to the user of the compiler.
#pragma once

#include <llvm/ADT/Twine.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

namespace mneme::passes {

/// Makes the compiler print "warning: mneme: <message>".
inline void warn(llvm::Module& module, const llvm::Twine& message) {
  module.getContext().diagnose(
      llvm::DiagnosticInfoGeneric("mneme: " + message, llvm::DS_Warning));
}

} // namespace mneme::passes
