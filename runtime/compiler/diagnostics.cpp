#include "runtime/compiler/diagnostics.h"

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>

namespace mneme::compile {

namespace {

class Collector final : public llvm::DiagnosticHandler {
public:
  explicit Collector(std::string& errors) : errors_(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    HasErrors = true;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    while (!text.empty() && text.back() == '\n')
      text.pop_back();
    if (!errors_.empty())
      errors_ += "; ";
    errors_ += text;
    return true;
  }

private:
  std::string& errors_;
};

} // namespace

void Diagnostics::attach(llvm::LLVMContext& context) {
  context.setDiagnosticHandler(std::make_unique<Collector>(errors_));
}

void Diagnostics::throwIfErrors(ErrorCode code, const std::string& what) const {
  if (!errors_.empty())
    throw Error(code, what + ": " + errors_);
}

void orThrow(llvm::Error error, ErrorCode code, const std::string& what) {
  if (error)
    throw Error(code, what + ": " + llvm::toString(std::move(error)));
}

} // namespace mneme::compile
