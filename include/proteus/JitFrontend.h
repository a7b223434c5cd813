// PJ-DSL: functions and kernels written in C++ objects while the program runs, compiled and called.
#pragma once

#include "proteus/AddressSpace.h"
#include "proteus/Error.h"
#include "proteus/Frontend/Builtins.h"
#include "proteus/Frontend/Dispatcher.h"
#include "proteus/Frontend/Func.h"
#include "proteus/Frontend/LoopNest.h"
#include "proteus/Frontend/TargetModel.h"
#include "proteus/Frontend/Var.h"

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace proteus {

template <typename Signature> class KernelHandle;

/// A module of functions and kernels. Its first use compiles it; nothing can be added then.
/// What the language cannot express ends the program, with the line that asked for it.
/// One thread writes it; any number may call what is in it.
class PROTEUS_API JitModule {
public:
  /// \param Target   host (native), cuda or hip
  /// \param Backend  llvm, or mlir: what print() shows and what is compiled
  explicit JitModule(const std::string& Target = "host", const std::string& Backend = "llvm",
                     const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE());
  ~JitModule();
  JitModule(const JitModule&) = delete;
  JitModule& operator=(const JitModule&) = delete;

  /// A function with C linkage: on the host callable, on GPUs for kernels of this module to call.
  /// \returns  `Func<R, A...>&` for `Signature` `R(A...)`; the module owns it
  template <typename Signature>
  auto& addFunction(const std::string& Name, const char* File = __builtin_FILE(),
                    unsigned Line = __builtin_LINE()) {
    return add(static_cast<Signature*>(nullptr), Name, false, File, Line);
  }
  template <typename Signature>
  KernelHandle<Signature> addKernel(const std::string& Name, const char* File = __builtin_FILE(),
                                    unsigned Line = __builtin_LINE()) {
    return {*this, add(static_cast<Signature*>(nullptr), Name, true, File, Line)};
  }

  /// Does nothing the second time.
  /// \param Verify  ends the program if the code is not valid IR
  void compile(bool Verify = false);
  bool isCompiled() const;

  /// The code as it is now, before any optimisation, to file descriptor 1.
  void print() const;
  void printLLVMIR() const;

  TargetModelType getTargetModel() const;
  bool isDeviceModule() const;
  Dispatcher& getDispatcher() const;
  /// The hash of the code before optimisation.
  uint64_t getModuleHash() const;
  /// Compiles if needed.
  CompiledLibrary& getLibrary();

private:
  friend class FuncBase;
  template <typename Signature> friend class KernelHandle;
  struct State;

  template <typename R, typename... A>
  Func<R, A...>& add(R (*)(A...), const std::string& Name, bool IsKernel, const char* File,
                     unsigned Line) {
    static_assert(!std::is_same_v<R, long double>, "PJ-DSL has no long double");
    checkAdd(Name, IsKernel, File, Line);
    auto Added = std::make_unique<Func<R, A...>>(*this, Name, IsKernel);
    auto& Result = *Added;
    keep(std::move(Added), File, Line);
    return Result;
  }
  void checkAdd(const std::string& Name, bool IsKernel, const char* File, unsigned Line) const;
  void keep(std::unique_ptr<FuncBase> Added, const char* File, unsigned Line);
  std::unique_ptr<CodeBuilder> makeBuilder(IRFunction Function);
  void rename(FuncBase& Function, const std::string& Name);
  void* getFunctionAddress(FuncBase& Function);
  DispatchResult launch(FuncBase& Kernel, LaunchDims Grid, LaunchDims Block, void* Args[],
                        uint64_t SharedBytes, void* Stream);
  void setLaunchBounds(FuncBase& Kernel, int MaxThreads, int MinBlocks, const char* File,
                       unsigned Line);

  std::unique_ptr<State> Data;
};

/// A kernel of a module. Copies are the same kernel; it does not outlive the module.
template <typename... A> class KernelHandle<void(A...)> {
public:
  KernelHandle(JitModule& Module, Func<void, A...>& F) : F(F), Module(&Module) {}

  Func<void, A...>* operator->() const { return &F; }

  /// Before the module is compiled.
  /// \param MaxThreads  of a block
  /// \param MinBlocks per multiprocessor, 0: unspecified
  void setLaunchBounds(int MaxThreads, int MinBlocks = 0, const char* File = __builtin_FILE(),
                       unsigned Line = __builtin_LINE()) const {
    Module->setLaunchBounds(F, MaxThreads, MinBlocks, File, Line);
  }

  /// Compiles the module if needed. Returns what the vendor's runtime returns.
  [[nodiscard]] DispatchResult launch(LaunchDims Grid, LaunchDims Block, uint64_t SharedBytes,
                                      void* Stream, A... Args) const {
    std::tuple<Stored<A>...> Values(stored<A>(Args)...);
    return std::apply(
        [&](auto&... Value) {
          void* Places[] = {static_cast<void*>(&Value)..., nullptr};
          return Module->launch(F, Grid, Block, Places, SharedBytes, Stream);
        },
        Values);
  }

  Func<void, A...>& F;

private:
  /// What a kernel is given: of a reference, the address.
  template <typename T>
  using Stored =
      std::conditional_t<std::is_reference_v<T>, const volatile void*, std::remove_cv_t<T>>;
  template <typename T> static Stored<T> stored(std::remove_reference_t<T>& Value) {
    if constexpr (std::is_reference_v<T>)
      return &Value;
    else
      return Value;
  }

  JitModule* Module;
};

} // namespace proteus
