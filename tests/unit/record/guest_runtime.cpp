// The smallest vendor runtime: memory from malloc, kernels that are host functions and run at once.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include <dlfcn.h>

#include "runtime/core/abi/mneme_rt.h"
#include "tests/unit/record/guest_launch.h"

namespace {

constexpr int kInvalidValue = 1, kOutOfMemory = 2, kLaunchFailure = 719;
constexpr size_t kLargest = size_t{1} << 30;
constexpr int kBehindWork = 100; ///< a kind of copies of our own
int fault = 0;

struct Known {
  std::mutex mutex;
  std::set<const void*> own;
  std::set<const void*> adopted;
};
Known& known() {
  static Known* all = new Known;
  return *all;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

using Kernel = int (*)(mneme_dim3 grid, mneme_dim3 block, void** args);

/// How many kernels go on although their launch has returned.
std::atomic<int> guestWork{0};

int cudaMalloc(void** pointer, size_t bytes) {
  if (!pointer)
    return kInvalidValue;
  *pointer = bytes && bytes <= kLargest ? std::malloc(bytes) : nullptr;
  if (!*pointer)
    return bytes ? kOutOfMemory : 0;
  const std::lock_guard lock(known().mutex);
  known().own.insert(*pointer);
  return 0;
}
int cudaFree(void* pointer) {
  const std::lock_guard lock(known().mutex);
  if (pointer && known().own.erase(pointer) == 0)
    return kInvalidValue;
  std::free(pointer);
  return fault; // it synchronises
}
int cudaDeviceSynchronize() {
  while (guestWork > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return fault;
}
int cudaMemcpy(void* to, const void* from, size_t bytes, int kind) {
  // As behind work of a stream that has yet to write the first word.
  while (kind == kBehindWork && *static_cast<const volatile int*>(from) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::memcpy(to, from, bytes);
  return fault;
}
#ifdef MNEME_TEST_GPU
/// Whose context is current says the driver.
int cudaGetDevice(int* device) {
  static const auto ask =
      reinterpret_cast<int (*)(int*)>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxGetDevice"));
  return ask ? ask(device) : kInvalidValue;
}
#else
int cudaGetDevice(int* device) { return *device = 0; }
#endif
int cudaGetSymbolAddress(void** address, const void* hostShadow) {
  *address = const_cast<void*>(hostShadow); // globals live where the host sees them
  return 0;
}
int cudaLaunchKernel(const void* kernel, mneme_dim3 grid, mneme_dim3 block, void** args, size_t,
                     void*) {
  if (block.x == 0)
    return kInvalidValue;
  if (reinterpret_cast<Kernel>(const_cast<void*>(kernel))(grid, block, args) != 0)
    fault = kLaunchFailure;
  return 0;
}
int cudaFuncSetCacheConfig(const void* kernel, int) { return kernel ? 0 : kInvalidValue; }
int cudaLaunchCooperativeKernelMultiDevice(const GuestLaunch* launches, unsigned count, unsigned) {
  if (!launches || count == 0 || count > 2)
    return kInvalidValue;
  for (unsigned index = 0; index < count; ++index) {
    const GuestLaunch& one = launches[index];
    if (const int status = cudaLaunchKernel(one.kernel, one.grid, one.block, one.args,
                                            one.sharedBytes, one.stream);
        status != 0)
      return status;
  }
  return 0;
}
#ifndef MNEME_TEST_GPU // a GPU's runtime does not let memory be adopted
int mneme_cudart_is_busy() { return guestWork > 0; }
int mneme_cudart_adopt(const void* base, size_t, int) {
  const std::lock_guard lock(known().mutex);
  known().adopted.insert(base);
  return 0;
}
void mneme_cudart_disown(const void* base) {
  const std::lock_guard lock(known().mutex);
  known().adopted.erase(base);
}
#endif

} // extern "C"
#pragma GCC visibility pop
