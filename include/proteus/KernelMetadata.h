// What a program may learn of its own marked kernels: their LLVM bitcode and device variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

extern "C" {
// runtime/core/abi/mneme_jit_capture.h; weak: null in a program that is not linked with
// libmneme_rt.
struct mneme_captured_global;
struct mneme_captured_kernel;
[[gnu::weak]] int mneme_jit_capture_kernel(const void* kernel,
                                           void (*take)(void* user, const mneme_captured_kernel*),
                                           void* user);
}

namespace proteus {

/// A device variable.
struct GlobalMetadata {
  const void* HostAddr = nullptr;
  const void* DevAddr = nullptr; ///< on the current device
  uint64_t VarSize = 0;          ///< bytes
};

class KernelMetadata {
public:
  using Globals = std::unordered_map<std::string, GlobalMetadata>;

  KernelMetadata(std::string Name, uint64_t StaticHash, std::vector<char> Bitcode, Globals Vars)
      : Name(std::move(Name)), StaticHash(StaticHash), Bitcode(std::move(Bitcode)),
        Vars(std::move(Vars)) {}

  /// Mangled.
  const std::string& getName() const { return Name; }
  uint64_t getStaticHash() const { return StaticHash; }
  /// LLVM bitcode of the kernel with what it reaches.
  const std::vector<char>& getBitcode() const { return Bitcode; }
  /// Every device variable of the unit.
  const Globals& getGlobals() const { return Vars; }

private:
  std::string Name;
  uint64_t StaticHash;
  std::vector<char> Bitcode;
  Globals Vars;
};

namespace detail {

// As runtime/core/abi/mneme_jit_capture.h has them.
struct CapturedGlobal {
  const char* Name;
  const void* HostAddress;
  const void* DeviceAddress;
  uint64_t SizeBytes;
};
struct CapturedKernel {
  const char* Name;
  uint64_t StaticHash;
  const char* Bitcode;
  uint64_t BitcodeBytes;
  const CapturedGlobal* Globals;
  uint64_t GlobalCount;
};

inline void takeKernel(void* User, const mneme_captured_kernel* Captured) {
  const auto& Kernel = *reinterpret_cast<const CapturedKernel*>(Captured);
  KernelMetadata::Globals Vars;
  for (uint64_t I = 0; I < Kernel.GlobalCount; ++I) {
    const CapturedGlobal& Var = Kernel.Globals[I];
    Vars[Var.Name] = {Var.HostAddress, Var.DeviceAddress, Var.SizeBytes};
  }
  static_cast<std::optional<KernelMetadata>*>(User)->emplace(
      Kernel.Name, Kernel.StaticHash,
      std::vector<char>(Kernel.Bitcode, Kernel.Bitcode + Kernel.BitcodeBytes), std::move(Vars));
}

} // namespace detail

namespace runtime {

/// What is known of a kernel, by its host handle; nothing if it is not marked. Works before any
/// launch.
inline std::optional<KernelMetadata> captureKernelMetadata(const void* Kernel) {
  std::optional<KernelMetadata> Captured;
  if (mneme_jit_capture_kernel)
    mneme_jit_capture_kernel(Kernel, detail::takeKernel, &Captured);
  return Captured;
}

} // namespace runtime
} // namespace proteus
