// Kernels of device code that the program loads itself, as PTX and as a cubin, by the driver API
// alone: from memory, as a module and as a library; their variables; launches by two calls; and
// again after an unload.
#include <cuda.h>

#include <cstdio>
#include <vector>

#include "../api/check.h"

__asm__(".section .rodata\n.balign 16\n"
        "ptx_code:\n.incbin \"" PTX_FILE "\"\n.byte 0\n.balign 16\n"
        "cubin_code:\n.incbin \"" CUBIN_FILE "\"\n.byte 0\n"
        ".text\n");
extern "C" const char ptx_code[], cubin_code[];

namespace {

constexpr int count = 1000;

void say(const char* what, CUdeviceptr numbers) {
  std::vector<int> host(count);
  check(cuMemcpyDtoH(host.data(), numbers, count * sizeof(int)) == 0, "a copy");
  long sum = 0;
  for (const int value : host)
    sum += value;
  std::printf("%s: %ld\n", what, sum);
}

void useModule(const void* code, CUdeviceptr numbers) {
  CUmodule module = nullptr;
  CUfunction add = nullptr;
  CUdeviceptr offset = 0;
  size_t bytes = 0;
  check(cuModuleLoadData(&module, code) == 0, "a module");
  check(cuModuleGetFunction(&add, module, "add") == 0, "its kernel");
  check(cuModuleGetGlobal(&offset, &bytes, module, "offset") == 0 && bytes == sizeof(int),
        "its variable");
  int length = count, argument = 2, value = 1000;
  void* arguments[] = {&numbers, &length, &argument};
  check(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr) == 0, "a launch");
  say("a module's", numbers);
  check(cuMemcpyHtoD(offset, &value, sizeof value) == 0, "another value");
  argument = 3;
  CUlaunchConfig config{};
  config.gridDimX = 4, config.blockDimX = 256;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  check(cuLaunchKernelEx(&config, add, arguments, nullptr) == 0, "a launch with its attributes");
  say("with another value", numbers);
  // As one buffer behind each other, as the kernel has them.
  struct {
    CUdeviceptr numbers;
    int length, argument;
  } packed{numbers, count, 4};
  size_t size = sizeof packed;
  void* buffer[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                    CU_LAUNCH_PARAM_END};
  check(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, buffer) == 0,
        "a buffer of arguments");
  say("by a buffer", numbers);
  check(cuModuleUnload(module) == 0, "an unload");
}

void useLibrary(const void* code, CUdeviceptr numbers) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  check(cuLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0) == 0,
        "a library");
  check(cuLibraryGetKernel(&kernel, library, "add") == 0, "a library's kernel");
  int length = count, argument = 5;
  void* arguments[] = {&numbers, &length, &argument};
  check(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 8, 1, 1, 128, 1, 1, 0, nullptr,
                       arguments, nullptr) == 0,
        "a launch of a library's");
  say("a library's", numbers);
  check(cuLibraryUnload(library) == 0, "a library's end");
}

} // namespace

int main() {
  CUcontext context = nullptr;
  CUdeviceptr numbers = 0;
  check(cuInit(0) == 0, "the driver");
  check(cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0, "a context");
  check(cuMemAlloc(&numbers, count * sizeof(int)) == 0, "memory");
  for (const char* code : {ptx_code, cubin_code}) {
    CUmodule probe = nullptr;
    if (cuModuleLoadData(&probe, code) == CUDA_ERROR_NO_BINARY_FOR_GPU) {
      std::printf("not for this device\n"); // the cubin is for one only
      continue;
    }
    check(cuModuleUnload(probe) == 0, "what was only loaded");
    check(cuMemsetD32(numbers, 5, count) == 0, "a fill");
    useModule(code, numbers);
    useModule(code, numbers);
    useLibrary(code, numbers);
  }
  check(cuMemFree(numbers) == 0, "memory back");
  return finish("loaded_code");
}
