// Which backend a process uses (backend.h): the one for the runtime it has.
#include "runtime/jit/backend.h"
#include "runtime/jit/backends/cpu/backend.h"
#include "runtime/jit/backends/cuda/backend.h"
#include "runtime/jit/backends/hip/backend.h"

namespace mneme::jit {

std::unique_ptr<Backend> makeBackend(const mneme_launch& launch, std::string& why) {
  if (auto backend = makeCpuBackend())
    return backend;
  return isHipEntry(launch.vendorEntry) ? makeHipBackend(why) : makeCudaBackend(launch, why);
}

} // namespace mneme::jit
