#include "runtime/jit/backend.h"
#include "runtime/jit/backend_cpu.h"
#include "runtime/jit/backend_cuda.h"

namespace mneme::jit {

std::unique_ptr<Backend> makeBackend(const mneme_launch& launch, std::string& why) {
  if (auto backend = makeCpuBackend())
    return backend;
  return makeCudaBackend(launch, why);
}

} // namespace mneme::jit
