#include "runtime/devices/cuda/module_loader.h"

#include <vector>

#include "runtime/core/base/error.h"
#include "runtime/core/embed/jit_options.h"

namespace mneme::device::cuda {
namespace {

/// Whether the GPU of the current context has the architecture of a value of CU_JIT_TARGET: 90, or
/// with features of its own 0x1005a.
bool isHere(const Driver& driver, uint64_t target) {
  CUdevice device = -1;
  int major = 0, minor = 0;
  return driver.cuCtxGetDevice(&device) == CUDA_SUCCESS &&
         driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                     device) == CUDA_SUCCESS &&
         driver.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                     device) == CUDA_SUCCESS &&
         (target & 0xffff) == static_cast<uint64_t>(10 * major + minor);
}

} // namespace

CUmodule loadModule(const Driver& driver, const void* image, const std::string& what) {
  // The driver writes the sizes it used over the values of the size options.
  std::vector<char> log(16 << 10);
  std::vector<CUjit_option> options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::vector<void*> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  for (const auto& [number, value] : embed::jitOptionsAt(image))
    if (number != embed::kJitTarget || isHere(driver, value)) {
      options.push_back(static_cast<CUjit_option>(number));
      values.push_back(reinterpret_cast<void*>(value));
    }
  CUmodule module = nullptr;
  const CUresult result = driver.cuModuleLoadDataEx(
      &module, image, static_cast<unsigned>(options.size()), options.data(), values.data());
  if (result == CUDA_SUCCESS)
    return module;
  log.back() = 0;
  std::string text = log.data();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  const std::string message =
      what + " failed: " + describe(result) + (text.empty() ? "" : ": " + text);
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    throw Error(ErrorCode::OutOfMemory, message);
  if (isSticky(result) && result != CUDA_ERROR_UNKNOWN)
    throw Error(ErrorCode::DeviceFailed, message);
  throw Error(ErrorCode::CompileFailed, message);
}

} // namespace mneme::device::cuda
