#include "runtime/compiler/diagnostics.h"

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>

#include "runtime/compiler/reasons/remarks.h"

namespace mneme::compile {

namespace {

class Collector final : public llvm::DiagnosticHandler {
public:
  Collector(std::string& errors, Remarks* remarks) : errors_(errors), remarks_(remarks) {}

  bool isAnalysisRemarkEnabled(llvm::StringRef pass) const override { return isWanted(pass); }
  bool isMissedOptRemarkEnabled(llvm::StringRef pass) const override { return isWanted(pass); }
  bool isPassedOptRemarkEnabled(llvm::StringRef pass) const override { return isWanted(pass); }
  bool isAnyRemarkEnabled() const override { return isWanted(""); }

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (remarks_)
      remarks_->add(info);
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
  bool isWanted(llvm::StringRef pass) const { return remarks_ && remarks_->isWanted(pass); }

  std::string& errors_;
  Remarks* const remarks_;
};

} // namespace

void Diagnostics::attach(llvm::LLVMContext& context, Remarks* remarks) {
  context.setDiagnosticHandler(std::make_unique<Collector>(errors_, remarks));
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
