// A module of PJ-DSL: its functions, their text, its compilation (proteus/JitFrontend.h).
#include "include/proteus/JitFrontend.h"

#include <atomic>
#include <cerrno>
#include <mutex>
#include <vector>

#include <unistd.h>

#include "runtime/core/base/error.h"
#include "runtime/jit/frontend/dispatcher_state.h"
#include "runtime/jit/frontend/dsl/llvm_module.h"
#include "runtime/jit/frontend/dsl/mlir_module.h"

namespace proteus {
namespace {

TargetModelType targetOf(const std::string& name, const char* file, unsigned line) {
  for (const TargetModelType target :
       {TargetModelType::HOST, TargetModelType::CUDA, TargetModelType::HIP})
    if (name == getTargetModelName(target))
      return target;
  if (name == "native")
    return TargetModelType::HOST;
  reportFatalError("Unsupported target " + name, file, line);
}

bool isMlir(const std::string& backend, const char* file, unsigned line) {
  if (backend != "llvm" && backend != "mlir")
    reportFatalError("Unsupported backend " + backend, file, line);
  return backend == "mlir";
}

/// Past the buffers of the program: what it prints afterwards may come before what it printed
/// earlier.
void writeOut(const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(STDOUT_FILENO, text.data() + written, text.size() - written);
    if (count < 0 && errno != EINTR)
      return;
    written += count > 0 ? static_cast<size_t>(count) : 0;
  }
}

} // namespace

struct JitModule::State {
  State(TargetModelType target, bool isMlir)
      : target(target), isMlir(isMlir), dispatcher(Dispatcher::getDispatcher(target)) {
    if (isMlir)
      text = std::make_unique<MLIRModuleText>(target);
    else
      text = std::make_unique<LLVMModuleText>(target);
  }

  std::string suffix() const {
    // A dot is not part of a name in PTX.
    const std::string digits = std::to_string(hash);
    return text->isCuda() ? "$jit$" + digits + "$" : ".jit." + digits;
  }
  uint64_t hashNow() const { return dispatcher.hashOf(text->text(), isMlir ? "DSL MLIR" : "DSL"); }

  TargetModelType target;
  bool isMlir;
  Dispatcher& dispatcher;
  std::unique_ptr<ModuleText> text;
  std::vector<std::unique_ptr<FuncBase>> functions;
  uint64_t hash = 0; ///< once compiled
  std::mutex mutex;  ///< of those who want it compiled
  std::atomic<bool> isCompiled = false;
  std::shared_ptr<CompiledLibrary> library;
};

JitModule::JitModule(const std::string& Target, const std::string& Backend, const char* File,
                     unsigned Line)
    : Data(std::make_unique<State>(targetOf(Target, File, Line), isMlir(Backend, File, Line))) {}

JitModule::~JitModule() = default;

void JitModule::checkAdd(const std::string& Name, bool IsKernel, const char* File,
                         unsigned Line) const {
  if (Data->isCompiled)
    reportFatalError("The module is compiled, no further code can be added", File, Line);
  if (IsKernel && !isDeviceModule())
    reportFatalError("Expected a device module for addKernel", File, Line);
  if (!Data->text->isFree(Name))
    reportFatalError("The module has a " + Name + " already", File, Line);
}

void JitModule::keep(std::unique_ptr<FuncBase> Added, const char* File, unsigned Line) {
  Added->getCodeBuilder().setLocation(File, Line);
  Data->functions.push_back(std::move(Added));
}

std::unique_ptr<CodeBuilder> JitModule::makeBuilder(IRFunction Function) {
  return Data->text->makeBuilder(std::move(Function));
}

void JitModule::rename(FuncBase& Function, const std::string& Name) {
  const CodeBuilder& builder = Function.getCodeBuilder();
  if (Data->isCompiled)
    builder.fail("The module is compiled, names cannot change");
  if (!Data->text->isFree(Name))
    builder.fail("The module has a " + Name + " already");
  Data->text->rename(Function.getName(), Name);
}

void JitModule::compile(bool) {
  const std::lock_guard lock(Data->mutex);
  if (Data->isCompiled)
    return;
  Data->text->check();
  Data->hash = Data->hashNow();
  Data->text->addSuffix(Data->suffix());
  Dispatcher::State& dispatcher = Data->dispatcher.state();
  const std::string code = Data->text->text();
  try {
    Data->library = Data->isMlir ? dispatcher.compileMlir(code, Data->hash)
                                 : dispatcher.compileIR(code, Data->hash);
  } catch (const mneme::Error& failure) {
    Data->text->fail(failure.what());
  }
  Data->isCompiled = true;
}

bool JitModule::isCompiled() const { return Data->isCompiled; }

void JitModule::print() const { writeOut(Data->text->text()); }

void JitModule::printLLVMIR() const {
  const std::string code = Data->text->text();
  try {
    writeOut(Data->isMlir ? Data->dispatcher.state().loweredMlir(code) : code);
  } catch (const mneme::Error& failure) {
    Data->text->fail(failure.what());
  }
}

TargetModelType JitModule::getTargetModel() const { return Data->target; }

bool JitModule::isDeviceModule() const { return isGPUTargetModel(Data->target); }

Dispatcher& JitModule::getDispatcher() const { return Data->dispatcher; }

uint64_t JitModule::getModuleHash() const {
  return Data->isCompiled ? Data->hash : Data->hashNow();
}

CompiledLibrary& JitModule::getLibrary() {
  compile();
  return *Data->library;
}

void* JitModule::getFunctionAddress(FuncBase& Function) {
  CompiledLibrary& library = getLibrary();
  const std::lock_guard lock(Data->mutex);
  if (void* known = Function.Compiled)
    return known;
  return Function.Compiled =
             Data->dispatcher.getFunctionAddress(Function.getName(), Data->hash, library);
}

DispatchResult JitModule::launch(FuncBase& Kernel, LaunchDims Grid, LaunchDims Block, void* Args[],
                                 uint64_t SharedBytes, void* Stream) {
  void* kernel = Kernel.getAddress();
  return Data->dispatcher.launch(kernel, Grid, Block, Args, SharedBytes, Stream);
}

void JitModule::setLaunchBounds(FuncBase& Kernel, int MaxThreads, int MinBlocks, const char* File,
                                unsigned Line) {
  if (Data->isCompiled)
    reportFatalError("Launch bounds must be set before the module is compiled", File, Line);
  if (MaxThreads <= 0 || MinBlocks < 0)
    reportFatalError("Launch bounds must be positive", File, Line);
  IRFunction& function = Kernel.getCodeBuilder().getFunction();
  function.MaxThreads = MaxThreads;
  function.MinBlocks = MinBlocks;
}

} // namespace proteus
