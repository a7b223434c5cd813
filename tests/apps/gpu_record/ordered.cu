// Memory allocated and freed in the order of streams, from the default and from an own pool.
#include "common.h"

namespace {

constexpr int count = 1 << 16;
constexpr size_t bytes = count * sizeof(int);

void pingPong(cudaStream_t stream, cudaMemPool_t pool, const char* name) {
  int* kept = nullptr;
  expect(cudaMallocAsync(&kept, bytes, stream));
  expect(cudaMemsetAsync(kept, 1, bytes, stream));
  for (int round = 0; round < 50; ++round) {
    int* scratch = nullptr;
    if (pool)
      expect(cudaMallocFromPoolAsync(&scratch, bytes, pool, stream));
    else
      expect(cudaMallocAsync(&scratch, bytes, stream));
    scale<<<64, 128, 0, stream>>>(kept, scratch, count, round);
    expect(cudaMemcpyAsync(kept, scratch, bytes, cudaMemcpyDeviceToDevice, stream));
    expect(cudaFreeAsync(scratch, stream));
  }
  std::vector<int> host(count);
  expect(cudaMemcpyAsync(host.data(), kept, bytes, cudaMemcpyDeviceToHost, stream));
  expect(cudaStreamSynchronize(stream));
  expect(cudaFreeAsync(kept, stream));
  say(name, host);
}

} // namespace

int main() {
  cudaStream_t first, second;
  expect(cudaStreamCreate(&first));
  expect(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr;
  const bool hasPool = cudaMemPoolCreate(&pool, &properties) == cudaSuccess;
  if (!hasPool)
    cudaGetLastError();
  pingPong(first, nullptr, "first stream");
  pingPong(second, hasPool ? pool : nullptr, "second stream");
  pingPong(nullptr, nullptr, "default stream");
  // What is freed in a stream may be freed by nobody else, and what was not, by anybody.
  int* ordered = nullptr;
  int* plain = nullptr;
  expect(cudaMallocAsync(&ordered, bytes, first));
  expect(cudaMalloc(&plain, bytes));
  scale<<<8, 64, 0, first>>>(ordered, plain, 0, 1);
  expect(cudaStreamSynchronize(first));
  expect(cudaFree(ordered));
  expect(cudaFreeAsync(plain, first));
  expect(cudaDeviceSynchronize());
  if (hasPool)
    expect(cudaMemPoolDestroy(pool));
  expect(cudaStreamDestroy(first));
  expect(cudaStreamDestroy(second));
  return finish("ordered");
}
