// Memory that the program maps itself, with two pieces side by side, and a third that nobody may
// use: no allocation function returns it. Nothing of it is there on the CPU device.
#include <cuda.h>

#include "common.h"

namespace {

constexpr size_t kPieceBytes = 2 << 20;
constexpr int kPieces = 3, kUsable = 2;
constexpr int kCount = 4000;

CUdeviceptr mapped() {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUdeviceptr begin = 0;
  if (cuMemAddressReserve(&begin, kPieces * kPieceBytes, 0, 0, 0) != CUDA_SUCCESS)
    return 0;
  for (int piece = 0; piece < kPieces; ++piece) {
    CUmemGenericAllocationHandle memory{};
    check(cuMemCreate(&memory, kPieceBytes, &wanted, 0) == CUDA_SUCCESS, "creating");
    check(cuMemMap(begin + piece * kPieceBytes, kPieceBytes, 0, memory, 0) == CUDA_SUCCESS,
          "mapping");
    check(cuMemRelease(memory) == CUDA_SUCCESS, "releasing");
  }
  CUmemAccessDesc access{};
  access.location = wanted.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  check(cuMemSetAccess(begin, kUsable * kPieceBytes, &access, 1) == CUDA_SUCCESS, "access");
  return begin;
}

} // namespace

int main() {
  int* out = nullptr;
  expect(cudaMalloc(&out, kCount * sizeof(int)));
  expect(cudaMemset(out, 1, kCount * sizeof(int)));
  if (const CUdeviceptr begin = mapped()) {
    // From the first piece into the second.
    int* values = reinterpret_cast<int*>(begin + kPieceBytes) - kCount / 2;
    scale<<<4, 128>>>(out, values, kCount, 3);
    expectLaunched();
    scale<<<4, 128>>>(values, out, kCount, 5);
    expectLaunched();
    check(download(out, kCount)[kCount - 1] == (0x01010101 * 3 + kCount - 1) * 5 + kCount - 1,
          "what is read");
    expect(cudaDeviceSynchronize());
    for (int piece = 0; piece < kPieces; ++piece)
      check(cuMemUnmap(begin + piece * kPieceBytes, kPieceBytes) == CUDA_SUCCESS, "unmapping");
    check(cuMemAddressFree(begin, kPieces * kPieceBytes) == CUDA_SUCCESS, "freeing addresses");
  }
  scale<<<4, 128>>>(out, out, 1, 7);
  expectLaunched();
  expect(cudaFree(out));
  return finish("mapped_memory");
}
