// What modules that are given as text, of C++ or of an intermediate language, have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "proteus/Frontend/Dispatcher.h"

namespace proteus {
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

/// Compiled at the first need. Handles stay when the module goes. Threads may use one module at
/// once. Copies are the same code, which is found where it is compiled already.
class PROTEUS_API TextModule {
public:
  template <typename Signature> using FunctionHandle = ModuleFunction<Signature>;
  template <typename Signature> using KernelHandle = ModuleKernel<Signature>;

  /// Does nothing the second time. IR is verified whether `Verify` asks for that or not.
  void compile(bool Verify = false);

  /// Names are symbols: `extern "C"`, or mangled.
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
  /// The function of this name; for modules with host code.
  void* getFunctionAddress(const std::string& Name, const char* CallerFile = __builtin_FILE(),
                           unsigned CallerLine = __builtin_LINE());
  /// The kernel of this name, as launch() takes it; for modules for a GPU.
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

protected:
  /// `Kind` is part of the key of what is stored, as is how this process compiles `IsOurCode`.
  TextModule(TargetModelType Target, std::string Code, const std::string& Kind, bool IsOurCode,
             const char* File, unsigned Line);
  TextModule(const TextModule&) = default;
  TextModule& operator=(const TextModule&) = default;
  virtual ~TextModule() = default;

  /// \throws FatalError
  virtual std::shared_ptr<CompiledLibrary> compileCode() = 0;
  [[noreturn]] void fail(const std::string& Reason) const;

  TargetModelType Target;
  std::string Code;
  const char* File;
  unsigned Line;
  Dispatcher* Dispatch;
  uint64_t Hash;

private:
  /// Guards what follows. Code may use its own module while it is loaded.
  std::shared_ptr<std::recursive_mutex> Mutex;
  std::shared_ptr<CompiledLibrary> Library;
};

} // namespace detail
} // namespace proteus
