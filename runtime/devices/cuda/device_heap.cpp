#include "runtime/devices/cuda/device_heap.h"

#include <array>

#include "runtime/devices/cuda/application.h"
#include "runtime/devices/cuda/module_loader.h"
#include "runtime/devices/gpu/device_range.h"

namespace mneme::device::cuda {

namespace {

/// Allocates two blocks, writes their addresses to `out`, and frees them.
constexpr const char* kCode = R"(.version 6.3
.target sm_70
.address_size 64
.extern .func (.param .b64 block) malloc (.param .b64 bytes);
.extern .func free (.param .b64 block);
.visible .entry mnemeFindHeap(.param .u64 small, .param .u64 half, .param .u64 out)
{
  .reg .b64 %size<2>, %block<2>, %place;
  ld.param.u64 %size0, [small];
  ld.param.u64 %size1, [half];
  ld.param.u64 %place, [out];
  {
    .param .b64 bytes;
    .param .b64 block;
    st.param.b64 [bytes], %size0;
    call.uni (block), malloc, (bytes);
    ld.param.b64 %block0, [block];
  }
  {
    .param .b64 bytes;
    .param .b64 block;
    st.param.b64 [bytes], %size1;
    call.uni (block), malloc, (bytes);
    ld.param.b64 %block1, [block];
  }
  st.global.u64 [%place], %block0;
  st.global.u64 [%place+8], %block1;
  {
    .param .b64 block;
    st.param.b64 [block], %block1;
    call.uni free, (block);
  }
  {
    .param .b64 block;
    st.param.b64 [block], %block0;
    call.uni free, (block);
  }
  ret;
}
)";

constexpr uint64_t kBeginUnit = 2 << 20, kHeaderBytes = 32, kSmallBytes = 16;

/// Nothing was taken from the heap if half of it comes from the begin, behind a header, and a small
/// block from near the end.
AddressRange heapAround(uint64_t small, uint64_t half, uint64_t sizeBytes) {
  const uint64_t begin = half - kHeaderBytes;
  const bool isNew = half != 0 && begin % kBeginUnit == 0 && small > begin &&
                     small - begin < sizeBytes && small - begin > sizeBytes / 4 * 3;
  return isNew ? AddressRange{begin, sizeBytes} : AddressRange();
}

} // namespace

AddressRange findHeap(const Driver& driver, CUstream stream) {
  const char* const what = "looking for the GPU's heap";
  const RelaxedCapture relaxed(driver);
  size_t sizeBytes = 0;
  CUdevice device = 0;
  driver.require(driver.cuCtxGetLimit(&sizeBytes, CU_LIMIT_MALLOC_HEAP_SIZE), what);
  driver.require(driver.cuCtxGetDevice(&device), what);
  const CUmodule module = loadModule(driver, kCode, what); // stays: the heap is its modules'
  CUfunction function = nullptr;
  driver.require(driver.functionIn(&function, module, "mnemeFindHeap"), what);
  std::array<uint64_t, 2> blocks{};
  const auto out = gpu::DeviceRange::allocate(driver, device, sizeof blocks);
  uint64_t small = kSmallBytes, half = sizeBytes / 2, place = out.address();
  void* args[] = {&small, &half, &place};
  driver.require(driver.startKernel(function, 1, 1, stream, args), what);
  driver.require(driver.copyToHost(blocks.data(), place, sizeof blocks, stream), what);
  driver.require(driver.waitForStream(stream), what);
  return heapAround(blocks[0], blocks[1], sizeBytes);
}

} // namespace mneme::device::cuda
