// One loop body, run by the policy it is given: on the host in order, or on the device in blocks.
#pragma once

#include <cuda_runtime.h>

namespace loops {

using Index = long;

struct RangeSegment {
  Index first, last;
};

struct seq_exec {};
template <int BlockSize, bool IsAsync = false> struct cuda_exec {};

/// Dereferenced, it is the index it stands at, as an iterator of the standard library.
struct Counter {
  Index at;
  __host__ __device__ Index operator[](Index offset) const { return at + offset; }
};

namespace policy {

template <typename Policy, int BlockSize, typename Iterator, typename Body>
__global__ __launch_bounds__(BlockSize) void forall_cuda_kernel(Body body, Iterator at,
                                                                Index length) {
  const Index i = blockIdx.x * static_cast<Index>(BlockSize) + threadIdx.x;
  if (i < length)
    body(at[i]);
}

template <typename Body> void run(seq_exec, RangeSegment range, Body body) {
  for (Index i = range.first; i < range.last; ++i)
    body(i);
}

template <int BlockSize, bool IsAsync, typename Body>
void run(cuda_exec<BlockSize, IsAsync>, RangeSegment range, Body body) {
  const Index length = range.last - range.first;
  const auto blocks = static_cast<unsigned>((length + BlockSize - 1) / BlockSize);
  if (length <= 0)
    return;
  forall_cuda_kernel<cuda_exec<BlockSize, IsAsync>, BlockSize>
      <<<blocks, BlockSize>>>(body, Counter{range.first}, length);
  if (!IsAsync)
    cudaDeviceSynchronize();
}

} // namespace policy

template <typename Policy, typename Body> void forall(RangeSegment range, Body&& body) {
  policy::run(Policy{}, range, body);
}

} // namespace loops
