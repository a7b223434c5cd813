#include "runtime/devices/cuda/device_heap.h"

#include <new>

#include "runtime/core/base/error.h"
#include "runtime/devices/cuda/application.h"
#include "runtime/devices/cuda/module_loader.h"
#include "runtime/devices/gpu/gpu_launch.h"
#include "runtime/devices/gpu/pinned.h"

namespace mneme::device::cuda {

namespace {

/// Allocates two blocks, writes their addresses to `out`, and frees them; nothing, if nobody waits
/// for that any more when it starts.
constexpr const char* kCode = R"(.version 6.3
.target sm_70
.address_size 64
.extern .func (.param .b64 block) malloc (.param .b64 bytes);
.extern .func free (.param .b64 block);
.visible .entry mnemeFindHeap(.param .u64 small, .param .u64 half, .param .u64 out)
{
  .reg .b64 %size<2>, %block<2>, %place, %wanted;
  .reg .pred %unwanted;
  ld.param.u64 %size0, [small];
  ld.param.u64 %size1, [half];
  ld.param.u64 %place, [out];
  ld.volatile.global.u64 %wanted, [%place+16];
  setp.eq.u64 %unwanted, %wanted, 0;
  @%unwanted ret;
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

constexpr uint64_t kBeginUnit = 2 << 20, kHeaderBytes = 32, kTableBytes = 256, kSmallBytes = 16;

/// The driver cuts the heap into parts: as large a first one as a scale of its own allows, at least
/// half of the heap, and smaller ones behind it. A block comes from the smallest part that has room
/// for it. If nothing was taken yet, half of the heap therefore comes from the begin, behind a
/// header and perhaps a table, and a small block from near the end. Seen on an H200 with heaps of
/// 8 MiB to 1 GiB.
AddressRange heapAround(uint64_t small, uint64_t half, uint64_t sizeBytes) {
  const uint64_t inside = half % kBeginUnit, begin = half - inside;
  const bool isAtBegin = inside == kHeaderBytes || inside == kTableBytes + kHeaderBytes;
  const bool isNew = half != 0 && isAtBegin && small > half && small - begin < sizeBytes &&
                     small - begin > sizeBytes / 4 * 3;
  return isNew ? AddressRange{begin, sizeBytes} : AddressRange();
}

/// What the kernel writes, and reads last.
struct Answer {
  uint64_t small, half, isWanted;
};

} // namespace

AddressRange findHeap(const Driver& driver, CUstream stream, double timeoutSeconds) {
  const char* const what = "looking for the GPU's heap";
  const RelaxedCapture relaxed(driver);
  size_t sizeBytes = 0;
  driver.require(driver.cuCtxGetLimit(&sizeBytes, CU_LIMIT_MALLOC_HEAP_SIZE), what);
  const CUmodule module = loadModule(driver, kCode, what); // stays: the heap is its modules'
  CUfunction function = nullptr;
  driver.require(driver.functionIn(&function, module, "mnemeFindHeap"), what);
  gpu::PinnedBuffer memory(driver, sizeof(Answer));
  auto* const answer = new (memory.data()) Answer{0, 0, 1};
  memory.abandon(); // stays, too: freeing it may wait for kernels of other threads
  const gpu::Event end(driver, gpu::kUntimedEvent);
  uint64_t small = kSmallBytes, half = sizeBytes / 2, place = reinterpret_cast<uint64_t>(answer);
  void* args[] = {&small, &half, &place};
  driver.require(driver.startKernel(function, 1, 1, stream, args), what);
  driver.require(driver.recordEvent(end.raw(), stream), what);
  const auto status = static_cast<CUresult>(gpu::waitFor(driver, end.raw(), timeoutSeconds));
  if (status == CUDA_ERROR_NOT_READY) {
    __atomic_store_n(&answer->isWanted, 0, __ATOMIC_RELEASE);
    throw Error(ErrorCode::DeviceFailed, "a kernel that looks for it did not get its turn");
  }
  driver.require(status, what);
  return heapAround(answer->small, answer->half, sizeBytes);
}

} // namespace mneme::device::cuda
