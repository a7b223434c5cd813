// Room jit/frontend: the functions of a vendor's runtime that modules made at run time need.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/core/abi/mneme_rt.h"

namespace mneme::frontend {

enum class Vendor { Cuda = 0, Hip = 1 }; ///< as mneme_module_entry::vendor

/// Functions of the runtime that this process uses, found by name. The runtime is opened if the
/// program is not linked to it.
class VendorRuntime {
public:
  /// \throws Error{BackendUnavailable} if there is none
  static const VendorRuntime& of(Vendor vendor);

  /// Registers a fat binary as a unit that is built ahead of time does. The caller keeps the
  /// memory.
  void** registerFatBinary(void* wrapper) const { return registerFatBinary_(wrapper); }
  void endRegistration(void** binary) const {
    if (endRegistration_)
      endRegistration_(binary);
  }
  void registerFunction(void** binary, const void* handle, const char* name) const;
  void registerVariable(void** binary, void* shadow, const char* name, size_t sizeBytes,
                        bool isConstant) const;
  int setAttribute(const void* kernel, int attribute, int value) const {
    return setAttribute_(kernel, attribute, value);
  }
  /// Returns the value of mneme_launch::vendorEntry.
  void* launchEntry() const { return launchEntry_; }
  /// Returns the target to compile for on the current device: "cpu", "sm_90",
  /// "gfx90a:sramecc+:xnack-".
  /// \throws Error{BackendUnavailable} if there is no GPU
  std::string target() const;
  Vendor vendor() const { return vendor_; }

private:
  explicit VendorRuntime(Vendor vendor);
  std::string amdTarget() const;

  Vendor vendor_;
  bool isOnCpu_ = false;
  void** (*registerFatBinary_)(void*) = nullptr;
  void (*endRegistration_)(void**) = nullptr;
  void* registerFunction_ = nullptr;
  void* registerVariable_ = nullptr;
  int (*setAttribute_)(const void*, int, int) = nullptr;
  int (*currentDevice_)(int*) = nullptr;
  int (*deviceAttribute_)(int*, int, int) = nullptr;
  void* launchEntry_ = nullptr;
};

} // namespace mneme::frontend
