// What all frontends have in common: modules are compiled, functions of them found, kernels
// launched.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

// Not needed here: programs that are written for the reference tool have them by its headers.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proteus/Error.h"
#include "proteus/Frontend/TargetModel.h"
#include "proteus/JitFuncAttribute.h"

// Compilers include CUDA's header by themselves, but not HIP's.
#if defined(__HIP__) && __has_include(<hip/hip_runtime_api.h>)
#include <hip/hip_runtime_api.h>
#endif

/// Blocks of a grid, or threads of a block: {x, y, z}, a number, or whatever has x, y and z.
struct LaunchDims {
  unsigned X = 1, Y = 1, Z = 1;

  constexpr LaunchDims() = default;
  template <typename A, typename B = unsigned, typename C = unsigned,
            typename = std::enable_if_t<std::is_integral<A>::value && std::is_integral<B>::value &&
                                        std::is_integral<C>::value>>
  constexpr LaunchDims(A X, B Y = 1, C Z = 1)
      : X(static_cast<unsigned>(X)), Y(static_cast<unsigned>(Y)), Z(static_cast<unsigned>(Z)) {}
  template <typename Dims, typename = decltype(Dims::x), typename = decltype(Dims::y),
            typename = decltype(Dims::z)>
  constexpr LaunchDims(const Dims& Other) : LaunchDims(Other.x, Other.y, Other.z) {}
};

namespace proteus {

/// What the vendor's runtime returned; 0 is success.
struct DispatchResult {
  int Ret = 0;

  constexpr DispatchResult() = default;
  constexpr DispatchResult(int Ret) : Ret(Ret) {}
  constexpr operator int() const { return Ret; }
  /// The vendor's own type, cudaError_t or hipError_t, whichever header is included first.
  template <typename Error, typename = std::enable_if_t<std::is_enum<Error>::value &&
                                                        std::is_convertible<Error, int>::value>>
  constexpr operator Error() const {
    return static_cast<Error>(Ret);
  }
};

/// What a module was compiled to. It stays for the life of the process.
class CompiledLibrary;

/// One for each target model. Thread-safe. Its lines on stdout: docs/frontends.md.
class PROTEUS_API Dispatcher {
public:
  static Dispatcher& getDispatcher(TargetModelType Target);

  /// LLVM IR, as bitcode or text. `ModuleHash` names the stored object: equal for equal IR.
  /// It is verified in any case. \throws proteus::FatalError with LLVM's words and line; here and
  /// below, `File` and `Line` are the place it names
  std::shared_ptr<CompiledLibrary> compileIR(const std::string& IR, uint64_t ModuleHash,
                                             bool Verify = false,
                                             const char* File = __builtin_FILE(),
                                             unsigned Line = __builtin_LINE());

  /// A function of the host, or the handle of a kernel. \throws proteus::FatalError if there is
  /// none of this name
  void* getFunctionAddress(const std::string& Symbol, uint64_t ModuleHash, CompiledLibrary& Library,
                           const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE());

  /// `Stream`: cudaStream_t or hipStream_t; null is the default one. `ArgPtrs`: one pointer per
  /// argument.
  DispatchResult launch(void* Kernel, LaunchDims Grid, LaunchDims Block, void* ArgPtrs[],
                        uint64_t ShmemSize, void* Stream);
  /// \throws proteus::FatalError where `Value` is negative
  DispatchResult setFuncAttribute(void* Kernel, JitFuncAttribute Attribute, int Value,
                                  const char* File = __builtin_FILE(),
                                  unsigned Line = __builtin_LINE());

  /// Hash of texts together with how this process compiles (pipeline, levels, plugins), unless
  /// another compiler makes the machine code.
  uint64_t hashOf(const std::string& Code, const std::string& Kind, bool IsOurCode = true) const;

  TargetModelType getTargetModel() const;

  struct State;
  /// What the library itself keeps.
  State& state() { return *Parts; }

private:
  explicit Dispatcher(TargetModelType Target);
  std::unique_ptr<State> Parts;
};

} // namespace proteus
