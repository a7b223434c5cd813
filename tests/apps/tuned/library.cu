// Kernels of a library that is opened, closed and opened again.
#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "common.h"

__global__ void own(int* data) { data[threadIdx.x] += 1; }

namespace {

std::string pathOfPlugin() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  const std::string program(path, length > 0 ? length : 0);
  return program.substr(0, program.rfind('/') + 1) + PLUGIN;
}

} // namespace

int main() {
  constexpr int count = 128;
  int* data = nullptr;
  expect(cudaMalloc(&data, count * sizeof(int)));
  expect(cudaMemset(data, 0, count * sizeof(int)));
  for (int round = 0; round < 3; ++round) {
    void* library = dlopen(pathOfPlugin().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      std::printf("%s\n", dlerror());
      return 1;
    }
    const auto run = reinterpret_cast<int (*)(int*, int)>(dlsym(library, "runPlugin"));
    for (int call = 0; call < 2; ++call) {
      own<<<1, count>>>(data);
      expect(static_cast<cudaError_t>(run(data, count)));
      say("round", data, count);
    }
    dlclose(library);
  }
  expect(cudaFree(data));
  return finish("library");
}
