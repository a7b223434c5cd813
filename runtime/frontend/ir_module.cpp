#include "include/proteus/LLVMIRJitModule.h"

#include <string_view>

#include "include/proteus/Error.h"
#include "include/proteus/MLIRJitModule.h"
#include "runtime/base/error.h"
#include "runtime/frontend/dispatcher_state.h"

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

} // namespace

namespace detail {

IRModule::IRModule(TargetModelType target, std::string code, const char* className,
                   const char* kind, const char* file, unsigned line)
    : Target(target), Code(std::move(code)), File(file), Line(line), Dispatch(nullptr), Hash(0),
      Mutex(std::make_shared<std::mutex>()) {
  if (target != TargetModelType::HOST && !isGPUTargetModel(target))
    fail(std::string(className) + ": the target is '" + getTargetModelName(target) +
         "'; it must be host, cuda or hip");
  Dispatch = &Dispatcher::getDispatcher(target);
  Hash = Dispatch->hashOf(Code, kind);
}

void IRModule::fail(const std::string& reason) const { throw FatalError(reason, File, Line); }

void IRModule::compile(bool) {
  const std::lock_guard lock(*Mutex);
  if (!Library)
    Library = compileCode();
}

void* IRModule::getFunctionAddress(const std::string& name, const char* file, unsigned line) {
  if (Target != TargetModelType::HOST)
    throw FatalError("Error: getFunction() applies only to host modules", file, line);
  compile();
  return Dispatch->getFunctionAddress(name, Hash, *Library, file, line);
}

void* IRModule::getKernelAddress(const std::string& name, const char* file, unsigned line) {
  if (!isGPUTargetModel(Target))
    throw FatalError("Error: getKernel() applies only to device modules", file, line);
  compile();
  return Dispatch->getFunctionAddress(name, Hash, *Library, file, line);
}

void IRModule::setFuncAttribute(void* kernel, JitFuncAttribute attribute, int value,
                                const char* file, unsigned line) {
  Dispatch->setFuncAttribute(kernel, attribute, value, file, line);
}

CompiledLibrary& IRModule::getLibrary() {
  compile();
  return *Library;
}

} // namespace detail

LLVMIRJitModule::LLVMIRJitModule(TargetModelType target, std::string code, LLVMIRInputKind kind,
                                 const char* file, unsigned line)
    : IRModule(target, std::move(code), "LLVMIRJitModule", "LLVMIR", file, line), Kind(kind) {}

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
    : IRModule(target, std::move(code), "MLIRJitModule", "MLIR", file, line) {}

std::shared_ptr<CompiledLibrary> MLIRJitModule::compileCode() {
  try {
    return Dispatch->state().compileMlir(Code, Hash);
  } catch (const mneme::Error& error) {
    fail("MLIRJitModule: " + std::string(wordsOf(error)));
  }
}

} // namespace proteus
