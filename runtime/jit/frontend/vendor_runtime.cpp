#include "runtime/jit/frontend/vendor_runtime.h"

#include <array>
#include <cstring>
#include <vector>

#include <dlfcn.h>

#include "runtime/core/base/error.h"
#include "runtime/devices/hip/driver_types.h"

namespace mneme::frontend {
namespace {

// cudaDevAttrComputeCapabilityMajor and Minor.
constexpr int kMajorAttribute = 75;
constexpr int kMinorAttribute = 76;

template <typename Function> void find(Function& function, const std::string& name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name.c_str()));
}

/// A program that has no kernels of its own may not be linked with the runtime.
void openRuntime(Vendor vendor) {
  static constexpr std::array cuda = {"libcudart.so.13", "libcudart.so.12", "libcudart.so"};
  static constexpr std::array hip = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                     "libamdhip64.so"};
  const auto open = [](const auto& names) {
    for (const char* name : names)
      if (dlopen(name, RTLD_NOW | RTLD_GLOBAL))
        return;
  };
  if (vendor == Vendor::Cuda)
    open(cuda);
  else
    open(hip);
}

} // namespace

VendorRuntime::VendorRuntime(Vendor vendor) : vendor_(vendor) {
  const bool isCuda = vendor == Vendor::Cuda;
  const std::string calls = isCuda ? "cuda" : "hip";
  const std::string registration = "__" + calls;
  if (!dlsym(RTLD_DEFAULT, (registration + "RegisterFatBinary").c_str()))
    openRuntime(vendor);
  find(registerFatBinary_, registration + "RegisterFatBinary");
  find(endRegistration_, registration + "RegisterFatBinaryEnd");
  find(registerFunction_, registration + "RegisterFunction");
  find(registerVariable_, registration + "RegisterVar");
  find(setAttribute_, calls + "FuncSetAttribute");
  find(currentDevice_, calls + "GetDevice");
  find(deviceAttribute_, calls + "DeviceGetAttribute");
  find(launchEntry_, calls + "LaunchKernel");
  isOnCpu_ = dlsym(RTLD_DEFAULT, isCuda ? "mneme_cudart_device_name" : "mneme_hiprt_device_name");
  if (!registerFatBinary_ || !registerFunction_ || !registerVariable_ || !setAttribute_ ||
      !currentDevice_ || !deviceAttribute_ || !launchEntry_)
    throw Error(ErrorCode::BackendUnavailable,
                std::string(isCuda ? "CUDA support is not enabled: no libcudart.so"
                                   : "HIP support is not enabled: no libamdhip64.so") +
                    " is in this process or found by the loader");
}

const VendorRuntime& VendorRuntime::of(Vendor vendor) {
  if (vendor == Vendor::Cuda) {
    static const VendorRuntime cuda(Vendor::Cuda);
    return cuda;
  }
  static const VendorRuntime hip(Vendor::Hip);
  return hip;
}

void VendorRuntime::registerFunction(void** binary, const void* handle, const char* name) const {
  using Function =
      void (*)(void**, const void*, char*, const char*, int, void*, void*, void*, void*, int*);
  reinterpret_cast<Function>(registerFunction_)(binary, handle, const_cast<char*>(name), name, -1,
                                                nullptr, nullptr, nullptr, nullptr, nullptr);
}

void VendorRuntime::registerVariable(void** binary, void* shadow, const char* name,
                                     size_t sizeBytes, bool isConstant) const {
  using Function = void (*)(void**, void*, char*, const char*, int, size_t, int, int);
  reinterpret_cast<Function>(registerVariable_)(binary, shadow, const_cast<char*>(name), name, 0,
                                                sizeBytes, isConstant ? 1 : 0, 0);
}

std::string VendorRuntime::target() const {
  if (isOnCpu_)
    return "cpu";
  int device = 0, major = 0, minor = 0;
  if (vendor_ == Vendor::Hip)
    return amdTarget();
  if (const int status = currentDevice_(&device);
      status != 0 || deviceAttribute_(&major, kMajorAttribute, device) != 0 ||
      deviceAttribute_(&minor, kMinorAttribute, device) != 0)
    throw Error(ErrorCode::BackendUnavailable,
                "there is no usable GPU (error " + std::to_string(status) +
                    "); start the program with 'mneme run --device cpu' to run it without one");
  return "sm_" + std::to_string(major * 10 + minor);
}

/// The GPU's target ID, from where the properties of that HIP have it.
std::string VendorRuntime::amdTarget() const {
  using Properties = device::hip::DeviceProperties;
  int (*ask)(void*, int) = nullptr;
  find(ask, "hipGetDevicePropertiesR0600");
  const size_t offset = ask ? Properties::kArchOffset0600 : Properties::kArchOffset;
  if (!ask)
    find(ask, "hipGetDeviceProperties");
  std::vector<char> properties(Properties::kSizeBytes);
  int device = 0;
  if (const int status = currentDevice_(&device);
      !ask || status != 0 || ask(properties.data(), device) != 0)
    throw Error(ErrorCode::BackendUnavailable,
                "there is no usable GPU (error " + std::to_string(status) +
                    "); start the program with 'mneme run --device cpu' to run it without one");
  const char* name = properties.data() + offset;
  return {name, strnlen(name, Properties::kArchBytes)};
}

} // namespace mneme::frontend
