// Which backend a process uses (jit_backend.h): the one for the runtime it has.
#include "runtime/jit/backends/cpu/cpu_backend.h"
#include "runtime/jit/backends/cuda/cuda_backend.h"
#include "runtime/jit/backends/hip/hip_backend.h"
#include "runtime/jit/jit_backend.h"

namespace mneme::jit {

std::unique_ptr<Backend> makeBackend(const mneme_launch& launch, std::string& why) {
  if (auto backend = makeCpuBackend())
    return backend;
  return isHipEntry(launch.vendorEntry) ? makeHipBackend(why) : makeCudaBackend(launch, why);
}

} // namespace mneme::jit
