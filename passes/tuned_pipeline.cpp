#include "passes/tuned_pipeline.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/MemoryBufferRef.h>
#include <llvm/Support/PrettyStackTrace.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <memory>

#include "runtime/ir/compat.h"
#include "runtime/ir/line_directives.h"
#include "runtime/ir/pipeline_runner.h"
#include "runtime/ir/prune.h"

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

/// Tells passes what the target's instructions cost; null where the compiler lacks the target.
std::unique_ptr<llvm::TargetMachine> machineFor(const llvm::Function& kernel) {
  llvm::Triple triple = compat::moduleTriple(*kernel.getParent());
  std::string message;
  const llvm::Target* target = compat::lookupTarget(triple, message);
  if (!target)
    return nullptr;
  return compat::createTargetMachine(*target, triple,
                                     kernel.getFnAttribute("target-cpu").getValueAsString(),
                                     kernel.getFnAttribute("target-features").getValueAsString(),
                                     llvm::TargetOptions(), llvm::CodeGenOptLevel::Aggressive);
}

std::string oneLine(llvm::StringRef text) {
  std::string line = text.trim().str();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

/// The unit has functions of the same names.
void hideFunctions(llvm::Module& module, const llvm::Function& kernel) {
  ir::eraseUncalled(module, kernel);
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && &function != &kernel)
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
}

/// `context` has to be leaked if this crashes.
std::string optimize(llvm::LLVMContext& context, Bitcode& closure, llvm::StringRef kernel,
                     const TunedPipeline& pipeline) {
  std::string errors;
  context.setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  llvm::StringRef bytes(closure.data(), closure.size());
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "tuned kernel"), context);
  if (!module)
    return llvm::toString(module.takeError());
  llvm::Function& function = *(*module)->getFunction(kernel);
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(function);
  if (!machine)
    return "this compiler makes no code for the target";
  ir::internalizeExcept(**module, function, pipeline.ownFunctions);
  ir::keepLineDirectives(**module);
  ir::PipelineRunner runner(
      *machine, ir::tuningFor(pipeline.passes, pipeline.programLevel, pipeline.programLoops));
  if (llvm::Error error = runner.run(**module, pipeline.passes))
    return llvm::toString(std::move(error));
  hideFunctions(**module, function);
  llvm::raw_string_ostream stream(errors);
  if (llvm::verifyModule(**module, &stream) && errors.empty())
    return "it leaves invalid code behind";
  if (!errors.empty())
    return errors;
  Bitcode result;
  llvm::raw_svector_ostream output(result);
  llvm::WriteBitcodeToFile(**module, output, /*ShouldPreserveUseListOrder=*/true);
  closure = std::move(result);
  return {};
}

} // namespace

std::string optimizeClosure(Bitcode& closure, llvm::StringRef kernel,
                            const TunedPipeline& pipeline) {
  auto context = std::make_unique<llvm::LLVMContext>();
  std::string problem;
  const void* stackState = llvm::SavePrettyStackState();
  // Stays on: whoever compiles in this process had it on before, or has its own handlers back in
  // place by the first crash outside.
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext shield;
  if (shield.RunSafely([&] { problem = optimize(*context, closure, kernel, pipeline); }))
    return oneLine(problem);
  llvm::RestorePrettyStackState(stackState);
  (void)context.release();
  return "LLVM crashed";
}

} // namespace mneme::passes
