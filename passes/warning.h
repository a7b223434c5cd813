// Room passes: messages to the user of the compiler.
#pragma once

#include <llvm/ADT/Twine.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

namespace mneme::passes {

/// LLVM 19 has no general diagnostic of its own yet.
class Warning : public llvm::DiagnosticInfo {
public:
  explicit Warning(std::string message, llvm::DiagnosticSeverity severity = llvm::DS_Warning)
      : DiagnosticInfo(llvm::getNextAvailablePluginDiagnosticKind(), severity),
        message_(std::move(message)) {}
  void print(llvm::DiagnosticPrinter& printer) const override { printer << message_; }

private:
  std::string message_;
};

/// Makes the compiler print "warning: mneme: <message>".
inline void warn(llvm::Module& module, const llvm::Twine& message) {
  module.getContext().diagnose(Warning(("mneme: " + message).str()));
}

/// Prints an error instead, so that compilation fails. Used when something that the user requested
/// explicitly is impossible.
inline void fail(llvm::Module& module, const llvm::Twine& message) {
  module.getContext().diagnose(Warning(("mneme: " + message).str(), llvm::DS_Error));
}

} // namespace mneme::passes
