// Parallel loops over ranges and views of arrays. A kernel gets one argument: functor and policy in
// one structure.
#pragma once

#include <cuda_runtime.h>

#define PORTABLE_LAMBDA [=] __device__

namespace portable {

/// Where loops run. Policies keep its address, which is one of the host's.
struct Space {
  int device = 0;
  unsigned* locks = nullptr; ///< scratch memory of the library
};

void initialize();
void finalize();
const Space& default_space();
/// Ends the program with a sentence unless everything launched so far has worked.
void fence();

/// A matrix on the device; copies refer to the same elements.
template <typename T> struct View {
  T* data = nullptr;
  long extent[2] = {0, 0};
  long stride[2] = {0, 0};
  long offset = 0;
  const char* label = ""; ///< the host's
  const View* parent = nullptr;

  View() = default;
  View(const char* name, long rows, long columns)
      : extent{rows, columns}, stride{columns, 1}, label(name) {
    cudaMallocManaged(&data, sizeof(T) * static_cast<size_t>(rows * columns));
  }
  __host__ __device__ T& operator()(long row, long column) const {
    return data[offset + row * stride[0] + column * stride[1]];
  }
};

struct RangePolicy {
  const Space* space;
  long begin, end;
  long chunk, granularity, mask;
  int team, vector;

  RangePolicy(long first, long last)
      : space(&default_space()), begin(first), end(last), chunk(0), granularity(1), mask(0),
        team(128), vector(1) {}
};

/// A loop inside an iteration.
template <typename Body> __device__ void for_each(long begin, long end, const Body& body) {
  for (long i = begin; i < end; ++i)
    body(i);
}

namespace impl {

template <typename Functor> struct ParallelFor {
  Functor functor;
  RangePolicy policy;

  __device__ void operator()() const {
    const long step = static_cast<long>(gridDim.x) * blockDim.x;
    for (long i = policy.begin + blockIdx.x * blockDim.x + threadIdx.x; i < policy.end; i += step)
      functor(i);
  }
};

template <typename Driver>
__global__ __launch_bounds__(256) void launch_local_memory(const Driver driver) {
  driver();
}

} // namespace impl

template <typename Functor>
void parallel_for(const char*, const RangePolicy& policy, const Functor& functor) {
  const impl::ParallelFor<Functor> driver{functor, policy};
  const long count = policy.end - policy.begin;
  const auto blocks = static_cast<unsigned>((count + policy.team - 1) / policy.team);
  if (count > 0)
    impl::launch_local_memory<<<blocks, policy.team>>>(driver);
}

} // namespace portable
