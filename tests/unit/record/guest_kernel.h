// What programs to be recorded share: one kernel with a pointer and a number, registered as the
// passes would.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"
#include "tests/unit/embed/image_maker.h"

extern "C" {
int cudaMalloc(void** pointer, size_t bytes);
int cudaFree(void* pointer);
int cudaDeviceSynchronize();
int cudaGetDevice(int* device);
int cudaLaunchKernel(const void*, mneme_dim3, mneme_dim3, void**, size_t, void*);
int cudaFuncSetCacheConfig(const void* kernel, int config);
extern std::atomic<int> guestWork;
}

namespace mneme::record::test {

/// As the test's runtime calls it. Anything but 0 is a fault.
using GuestKernel = int (*)(mneme_dim3 grid, mneme_dim3 block, void** args);

inline int counter = 3; // a device variable of the kernel

inline int launchKernel(GuestKernel kernel, float* data, int count) {
  void* args[] = {&data, &count};
  mneme_launch request{};
  request.version = MNEME_RT_ABI;
  request.kernel = reinterpret_cast<const void*>(kernel);
  request.grid = {1, 1, 1};
  request.block = {32, 1, 1};
  request.args = args;
  request.vendorEntry = reinterpret_cast<void*>(&cudaLaunchKernel);
  return mneme_launch_kernel(&request);
}

template <int number>
inline constexpr const char* mangledName = number == 1 ? "_Z5scalePfi" : "_Z5otherPfi";

/// `options` is JSON: how the kernel was built. `number` is also its static hash. The same at each
/// call.
template <int number> inline const embed::test::Buffer& kernelImage(const std::string& options) {
  using namespace mneme::embed::test;
  const std::string mangled = mangledName<number>, name = mangled.substr(3, 5);
  static const std::string metadata = R"json({"kernel":")json" + mangled +
                                      R"json(","demangled":")json" + name +
                                      R"json((float*, int)","static_hash":"000000000000000)json" +
                                      std::to_string(number) + R"json(",
          "triple":"nvptx64-nvidia-cuda","arch":"sm_90","clang":"22","args":[
          {"name":"data","size":8,"align":8,"kind":"pointer","type":"ptr","specializable":false},
          {"name":"count","size":4,"align":4,"kind":"integer","type":"i32","specializable":true}],
          "globals":[{"name":"counter","size":4,"align":4,"constant":false,"defined":true}],
          "shared_bytes":0,"max_threads":0,"min_blocks":0,"undefined":[],"options":)json" +
                                      options + "}";
  static const Buffer fatbin =
      fatBinaryWith({{2, elfWith({{symbolFor("__mneme_ir_", number),
                                   blobWith(metadata, "not real bitcode", number)}})}});
  return fatbin;
}

/// Returns the unit.
template <int number = 1>
inline const mneme_module_entry* registerKernel(
    GuestKernel kernel,
    std::vector<mneme_global_entry> variables = {{&counter, "counter", sizeof(counter), 0, 0}},
    const std::string& options = "{}") {
  static const void* wrapper[] = {nullptr, kernelImage<number>(options).data(), nullptr};
  static const mneme_kernel_entry kernels[] = {
      {reinterpret_cast<const void*>(kernel), mangledName<number>}};
  static const std::vector<mneme_global_entry> globals = std::move(variables);
  static const mneme_module_entry module{MNEME_RT_ABI,   0, wrapper,       kernels,
                                         globals.data(), 1, globals.size()};
  mneme_rt_register_module(&module);
  return &module;
}

} // namespace mneme::record::test
