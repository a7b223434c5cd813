// Modules of LLVM IR and of MLIR (proteus/LLVMIRJitModule.h, MLIRJitModule.h).
#include "include/proteus/LLVMIRJitModule.h"

#include <string_view>

#include "include/proteus/Error.h"
#include "include/proteus/MLIRJitModule.h"
#include "runtime/core/base/error.h"
#include "runtime/jit/frontend/dispatcher_state.h"

namespace proteus {
namespace {

bool isBitcode(std::string_view bytes) {
  using namespace std::string_view_literals;
  return bytes.starts_with("BC\xC0\xDE"sv) || bytes.starts_with("\xDE\xC0\x17\x0B"sv);
}

/// LLVM's words behind `begin`, if that is how they begin.
bool cut(std::string_view& message, std::string_view begin) {
  if (!message.starts_with(begin))
    return false;
  message.remove_prefix(begin.size());
  return true;
}

/// Without the ends of lines behind it.
std::string_view wordsOf(const mneme::Error& error) {
  std::string_view message = error.what();
  while (message.ends_with('\n'))
    message.remove_suffix(1);
  return message;
}

std::string reasonOf(const mneme::Error& error) {
  std::string_view message = wordsOf(error);
  std::string begin = "LLVMIRJitModule: ";
  if (cut(message, "module 0 is not LLVM IR: "))
    begin += "failed to parse LLVM IR: ";
  else if (cut(message, "module 0 is neither "))
    begin += "failed to parse LLVM IR: it is neither ";
  else if (cut(message, "module 0 is damaged LLVM bitcode: "))
    begin += "failed to parse bitcode: ";
  else if (cut(message, "module 0 is not valid LLVM IR: "))
    begin = "Broken module found, JIT compilation aborted! ";
  return begin + std::string(message);
}

/// `target`, if modules of `className` can be for it.
TargetModelType accepted(TargetModelType target, const std::string& className, const char* file,
                         unsigned line) {
  if (target != TargetModelType::HOST && !isGPUTargetModel(target))
    throw FatalError(className + ": the target is '" + getTargetModelName(target) +
                         "'; it must be host, cuda or hip",
                     file, line);
  return target;
}

} // namespace

LLVMIRJitModule::LLVMIRJitModule(TargetModelType target, std::string code, LLVMIRInputKind kind,
                                 const char* file, unsigned line)
    : TextModule(accepted(target, "LLVMIRJitModule", file, line), std::move(code), "LLVMIR", true,
                 file, line),
      Kind(kind) {}

std::shared_ptr<CompiledLibrary> LLVMIRJitModule::compileCode() {
  if (Kind == LLVMIRInputKind::Bitcode && !isBitcode(Code))
    fail("LLVMIRJitModule: failed to parse bitcode: it does not begin as bitcode does");
  if (Kind == LLVMIRInputKind::TextIR && isBitcode(Code))
    fail("LLVMIRJitModule: failed to parse LLVM IR: it is bitcode");
  try {
    return Dispatch->state().compileIR(Code, Hash);
  } catch (const mneme::Error& error) {
    fail(reasonOf(error));
  }
}

MLIRJitModule::MLIRJitModule(TargetModelType target, std::string code, const char* file,
                             unsigned line)
    : TextModule(accepted(target, "MLIRJitModule", file, line), std::move(code), "MLIR", true, file,
                 line) {}

std::shared_ptr<CompiledLibrary> MLIRJitModule::compileCode() {
  try {
    return Dispatch->state().compileMlir(Code, Hash);
  } catch (const mneme::Error& error) {
    fail("MLIRJitModule: " + std::string(wordsOf(error)));
  }
}

} // namespace proteus
