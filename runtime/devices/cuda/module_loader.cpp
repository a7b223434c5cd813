#include "runtime/devices/cuda/module_loader.h"

#include <vector>

#include "runtime/core/base/error.h"

namespace mneme::device::cuda {

CUmodule loadModule(const Driver& driver, const void* image, const std::string& what) {
  // The driver writes the sizes it used over the values of the size options.
  std::vector<char> log(16 << 10);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUmodule module = nullptr;
  const CUresult result = driver.cuModuleLoadDataEx(&module, image, 2, options, values);
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
