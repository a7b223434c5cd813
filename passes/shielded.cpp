#include "passes/shielded.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/MemoryBufferRef.h>
#include <llvm/Support/PrettyStackTrace.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <memory>

#include "runtime/compiler/ir/module_machine.h"

namespace mneme::passes {
namespace {

class ErrorCollector final : public llvm::DiagnosticHandler {
public:
  explicit ErrorCollector(std::string& errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    llvm::raw_string_ostream stream(errors_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }

private:
  std::string& errors_;
};

std::string oneLine(llvm::StringRef text) {
  std::string line = text.trim().str();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

/// `context` has to be leaked if this crashes.
std::string perform(llvm::LLVMContext& context, const Bitcode& code, ShieldedWork work) {
  std::string errors;
  context.setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  llvm::Expected<std::unique_ptr<llvm::Module>> module = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(llvm::StringRef(code.data(), code.size()), "a copy"), context);
  if (!module)
    return llvm::toString(module.takeError());
  std::unique_ptr<llvm::TargetMachine> machine = ir::machineFor(**module);
  if (!machine)
    return "this compiler makes no code for the target";
  std::string problem = work(**module, *machine);
  return problem.empty() ? errors : problem;
}

} // namespace

Bitcode bitcodeOf(const llvm::Module& module) {
  Bitcode bitcode;
  llvm::BitcodeWriter writer(bitcode);
  writer.writeModule(module);
  writer.writeStrtab();
  return bitcode;
}

std::string runShielded(const Bitcode& code, ShieldedWork work) {
  auto context = std::make_unique<llvm::LLVMContext>();
  std::string problem;
  const void* stackState = llvm::SavePrettyStackState();
  // Recovery stays on. A compiler in this process had turned it on before, or its own handlers are
  // back in place by the first crash outside.
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext shield;
  if (shield.RunSafely([&] { problem = perform(*context, code, work); }))
    return oneLine(problem);
  llvm::RestorePrettyStackState(stackState);
  (void)context.release();
  return "LLVM crashed";
}

} // namespace mneme::passes
