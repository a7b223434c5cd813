// Room jit/frontend: makes a unit of this program from device code made at run time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/embed/blob_set.h"
#include "runtime/jit/frontend/vendor_runtime.h"

namespace mneme::frontend {

/// It is registered like units that were built ahead of time: with the vendor's runtime and with
/// libmneme_rt, so that its kernels are recorded and tuned like any others. It lives for ever,
/// because launches may be in flight when its module is destroyed.
class DeviceUnit {
public:
  /// `image` is compiled for VendorRuntime::target().
  /// \throws Error{ArtifactCorrupt}
  DeviceUnit(const VendorRuntime& runtime, std::span<const std::byte> image);
  DeviceUnit(const DeviceUnit&) = delete;
  DeviceUnit& operator=(const DeviceUnit&) = delete;

  /// Returns null if there is no kernel with this name.
  void* kernel(const std::string& name);
  /// Names of all kernels, for messages.
  const std::vector<std::string>& names() const { return names_; }

private:
  struct Wrapper {
    int magic;
    int version;
    const void* data;
    void* unused;
  };

  void listVariables();
  void registerAll(const VendorRuntime& runtime);

  std::vector<std::byte> container_; ///< fat binary or bundle of code objects
  embed::BlobSet blobs_;
  std::vector<std::string> names_;
  std::vector<std::byte> handles_; ///< a kernel's handle is the address of its byte
  std::vector<mneme_kernel_entry> kernels_;
  std::vector<std::unique_ptr<std::byte[]>> shadows_;
  std::vector<mneme_global_entry> variables_;
  Wrapper wrapper_{};
  mneme_module_entry module_{};
};

} // namespace mneme::frontend
