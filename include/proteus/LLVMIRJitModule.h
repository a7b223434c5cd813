// Modules of LLVM IR that are compiled at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "proteus/Frontend/Dispatcher.h"

namespace proteus {

/// Auto: bitcode if it looks like it, else text.
enum class LLVMIRInputKind { Auto, TextIR, Bitcode };

namespace detail {

/// A function of a module on the host.
template <typename Signature> class ModuleFunction;
template <typename Result, typename... Args> class ModuleFunction<Result(Args...)> {
public:
  explicit ModuleFunction(void* Address)
      : Address(reinterpret_cast<Result (*)(Args...)>(Address)) {}
  Result run(Args... Arguments) const { return Address(std::forward<Args>(Arguments)...); }
  Result operator()(Args... Arguments) const { return run(std::forward<Args>(Arguments)...); }

private:
  Result (*Address)(Args...);
};

/// A kernel of a module.
template <typename Signature> class ModuleKernel;
template <typename... Args> class ModuleKernel<void(Args...)> {
public:
  ModuleKernel(Dispatcher& Dispatch, void* Handle) : Dispatch(&Dispatch), Handle(Handle) {}
  /// Returns what the vendor's runtime returned.
  DispatchResult launch(LaunchDims Grid, LaunchDims Block, uint64_t ShmemSize, void* Stream,
                        Args... Arguments) const {
    // One more, as there may be none.
    void* Pointers[sizeof...(Args) + 1] = {
        const_cast<void*>(static_cast<const volatile void*>(&Arguments))..., nullptr};
    return Dispatch->launch(Handle, Grid, Block, Pointers, ShmemSize, Stream);
  }
  DispatchResult setFuncAttribute(JitFuncAttribute Attribute, int Value,
                                  const char* File = __builtin_FILE(),
                                  unsigned Line = __builtin_LINE()) const {
    return Dispatch->setFuncAttribute(Handle, Attribute, Value, File, Line);
  }

private:
  Dispatcher* Dispatch;
  void* Handle;
};

} // namespace detail

/// Compiled at the first need. Handles refer to the module. Threads may use one module at once.
class PROTEUS_API LLVMIRJitModule {
public:
  template <typename Signature> using FunctionHandle = detail::ModuleFunction<Signature>;
  template <typename Signature> using KernelHandle = detail::ModuleKernel<Signature>;

  /// Targets host, cuda and hip. A triple and a data layout that `Code` leaves out are filled in.
  /// Errors name `File` and `Line`.
  LLVMIRJitModule(TargetModelType Target, std::string Code,
                  LLVMIRInputKind Kind = LLVMIRInputKind::Auto, const char* File = __builtin_FILE(),
                  unsigned Line = __builtin_LINE());
  LLVMIRJitModule(const std::string& Target, std::string Code,
                  LLVMIRInputKind Kind = LLVMIRInputKind::Auto, const char* File = __builtin_FILE(),
                  unsigned Line = __builtin_LINE())
      : LLVMIRJitModule(parseTargetModel(Target, File, Line), std::move(Code), Kind, File, Line) {}

  /// \throws proteus::FatalError: "LLVMIRJitModule: failed to parse LLVM IR: " with line and words
  /// of LLVM; "Broken module found, JIT compilation aborted!", whether `Verify` is asked for or not
  void compile(bool Verify = false);

  template <typename Signature>
  FunctionHandle<Signature> getFunction(const std::string& Name,
                                        const char* CallerFile = __builtin_FILE(),
                                        unsigned CallerLine = __builtin_LINE()) {
    return FunctionHandle<Signature>(getFunctionAddress(Name, CallerFile, CallerLine));
  }
  template <typename Signature>
  KernelHandle<Signature> getKernel(const std::string& Name,
                                    const char* CallerFile = __builtin_FILE(),
                                    unsigned CallerLine = __builtin_LINE()) {
    return KernelHandle<Signature>(*Dispatch, getKernelAddress(Name, CallerFile, CallerLine));
  }
  /// Of modules for the host.
  void* getFunctionAddress(const std::string& Name, const char* CallerFile = __builtin_FILE(),
                           unsigned CallerLine = __builtin_LINE());
  /// What launch() takes.
  void* getKernelAddress(const std::string& Name, const char* CallerFile = __builtin_FILE(),
                         unsigned CallerLine = __builtin_LINE());
  DispatchResult launch(void* Kernel, LaunchDims Grid, LaunchDims Block, void* ArgPtrs[],
                        uint64_t ShmemSize, void* Stream) {
    return Dispatch->launch(Kernel, Grid, Block, ArgPtrs, ShmemSize, Stream);
  }
  void setFuncAttribute(void* Kernel, JitFuncAttribute Attribute, int Value,
                        const char* CallerFile = __builtin_FILE(),
                        unsigned CallerLine = __builtin_LINE());
  TargetModelType getTargetModel() const { return Target; }
  CompiledLibrary& getLibrary();

private:
  [[noreturn]] void fail(const std::string& Reason) const;

  TargetModelType Target;
  std::string Code;
  LLVMIRInputKind Kind;
  const char* File;
  unsigned Line;
  Dispatcher* Dispatch;
  uint64_t Hash;
  std::shared_ptr<std::mutex> Mutex; ///< of what follows
  std::shared_ptr<CompiledLibrary> Library;
};

} // namespace proteus
