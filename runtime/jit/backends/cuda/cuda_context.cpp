#include "runtime/jit/backends/cuda/cuda_context.h"

namespace mneme::jit {
namespace {

using namespace device::cuda;

bool identify(const Driver& driver, CudaContext& context) noexcept {
  if (driver.cuCtxGetCurrent(&context.handle) != CUDA_SUCCESS || !context.handle)
    return false;
  unsigned long long id = reinterpret_cast<uintptr_t>(context.handle);
  if (driver.cuCtxGetId && driver.cuCtxGetId(context.handle, &id) != CUDA_SUCCESS)
    return false; // destroyed, and the thread has not noticed
  context.id = id;
  return true;
}

bool isPrimary(const Driver& driver, CudaContext& context) noexcept {
  return driver.cuCtxGetDevice(&context.device) == CUDA_SUCCESS &&
         primaryContext(driver, context.device) == context.handle;
}

/// cudaSetDevice() of older runtimes takes effect at the runtime's next call: the launch itself.
bool isChosen(const Driver& driver, const LoadedRuntime& runtime, CUdevice device) noexcept {
  int ordinal = -1;
  CUdevice chosen = -1;
  return !runtime.getDevice ||
         (runtime.getDevice(&ordinal) == 0 &&
          (ordinal == device || // always so, in practice
           (driver.cuDeviceGet(&chosen, ordinal) == CUDA_SUCCESS && chosen == device)));
}

} // namespace

std::optional<CudaContext> currentContext(const Driver& driver,
                                          const LoadedRuntime& runtime) noexcept {
  // What was found out last; ids are never used again, so this does not become wrong.
  static thread_local CudaContext known;
  CudaContext context;
  if (!identify(driver, context))
    return std::nullopt;
  if (known.device >= 0 && known.handle == context.handle && known.id == context.id)
    context.device = known.device;
  else if (isPrimary(driver, context))
    known = context;
  else
    return std::nullopt;
  if (!isChosen(driver, runtime, context.device))
    return std::nullopt;
  return context;
}

} // namespace mneme::jit
