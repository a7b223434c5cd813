// Atomic operations of every width, their return values and scopes.
#include "check.h"

__global__ void add(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  atomicAdd(i, -1);
  atomicAdd(u, 3u);
  atomicAdd(l, 0x100000000ull);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
}

__global__ void others(int* i, unsigned* u, unsigned long long* l) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicSub(&i[0], 2);
  atomicMin(&i[1], -t);
  atomicMax(&i[2], t);
  atomicMin(&u[0], 5u + t);
  atomicMax(&u[1], 1000u * t);
  atomicAnd(&u[2], ~(1u << t % 32));
  atomicOr(&u[3], 1u << t % 32);
  atomicXor(&u[4], 1u << t % 7);
  atomicInc(&u[5], 9);
  atomicDec(&u[6], 9);
  atomicMin(&l[0], 10ull + t);
  atomicMax(&l[1], 0x100000000ull * t);
  atomicOr(&l[2], 1ull << t % 64);
  atomicXor(&l[3], 1ull << t % 5);
  atomicAnd(&l[4], ~(1ull << t % 64));
  atomicAdd_block(&i[3], 1);
  atomicAdd_system(&i[4], 1);
}

// A compare-and-swap loop: the float maximum, which has no instruction of its own.
__global__ void casLoop(float* maximum, const float* input) {
  const float value = input[blockIdx.x * blockDim.x + threadIdx.x];
  auto* bits = reinterpret_cast<unsigned*>(maximum);
  unsigned seen = *bits;
  while (__uint_as_float(seen) < value) {
    const unsigned previous = atomicCAS(bits, seen, __float_as_uint(value));
    if (previous == seen)
      break;
    seen = previous;
  }
}

__global__ void tickets(unsigned* counter, unsigned* taken, unsigned long long* last) {
  const unsigned ticket = atomicAdd(counter, 1u);
  atomicExch(&taken[ticket], 1u);
  atomicExch(last, static_cast<unsigned long long>(ticket) << 32);
}

// A lock that threads of different blocks spin on.
__device__ int lock = 0;
__global__ void locked(volatile int* value) {
  if (threadIdx.x != 0)
    return;
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence();
  *value = *value + 1;
  __threadfence();
  atomicExch(&lock, 0);
}

__global__ void inShared(int* output) {
  __shared__ int bins[8];
  __shared__ float sum;
  if (threadIdx.x < 8)
    bins[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&bins[threadIdx.x % 8], 1);
  atomicAdd(&sum, 1.0f);
  __syncthreads();
  if (threadIdx.x < 8)
    output[threadIdx.x] = bins[threadIdx.x] + (sum == static_cast<float>(blockDim.x) ? 0 : 1000);
}

int main() {
  constexpr int blocks = 8, threads = 128, count = blocks * threads;
  Buffer<int> i(5);
  Buffer<unsigned> u(7);
  Buffer<unsigned long long> l(5);
  Buffer<float> f(1);
  Buffer<double> d(1);
  add<<<blocks, threads>>>(i.device(), u.device(), l.device(), f.device(), d.device());
  expectLaunched();
  i.download(), u.download(), l.download(), f.download(), d.download();
  check(i[0] == -count && u[0] == 3u * count && l[0] == 0x100000000ull * count, "integer add");
  check(f[0] == 0.5f * count && d[0] == 0.25 * count, "floating add");

  for (int n = 0; n < 5; ++n)
    i[n] = 0, l[n] = 0;
  for (int n = 0; n < 7; ++n)
    u[n] = 0;
  u[0] = 1000, u[2] = ~0u, l[0] = 1000, l[4] = ~0ull;
  i.upload(), u.upload(), l.upload();
  others<<<blocks, threads>>>(i.device(), u.device(), l.device());
  expectLaunched();
  i.download(), u.download(), l.download();
  check(i[0] == -2 * count && i[1] == 1 - count && i[2] == count - 1, "sub, min, max");
  check(u[0] == 5 && u[1] == 1000u * (count - 1), "unsigned min, max");
  check(u[2] == 0 && u[3] == ~0u, "and, or");
  unsigned odd = 0;
  unsigned long long odd64 = 0;
  for (int t = 0; t < count; ++t)
    odd ^= 1u << t % 7, odd64 ^= 1ull << t % 5;
  check(u[4] == odd && l[3] == odd64, "xor");
  check(u[5] == count % 10, "inc wraps");
  check(u[6] == (10 - count % 10) % 10, "dec wraps");
  check(l[0] == 10 && l[1] == 0x100000000ull * (count - 1), "64-bit min, max");
  check(l[2] == ~0ull && l[4] == 0, "64-bit or, and");
  check(i[3] == count && i[4] == count, "scoped add");

  Buffer<float> input(count), maximum(1);
  for (int n = 0; n < count; ++n)
    input[n] = static_cast<float>(n * 37 % count);
  input.upload();
  casLoop<<<blocks, threads>>>(maximum.device(), input.device());
  expectLaunched();
  maximum.download();
  check(maximum[0] == count - 1, "compare-and-swap loop");

  Buffer<unsigned> counter(1), taken(count);
  Buffer<unsigned long long> last(1);
  tickets<<<blocks, threads>>>(counter.device(), taken.device(), last.device());
  expectLaunched();
  taken.download(), last.download();
  for (int n = 0; n < count; ++n)
    check(taken[n] == 1, "every ticket is drawn once");
  check((last[0] & 0xffffffffull) == 0, "64-bit exchange");

  Buffer<int> value(1), bins(8);
  locked<<<32, 32>>>(value.device());
  expectLaunched();
  value.download();
  check(value[0] == 32, "spin lock between blocks");
  inShared<<<1, 256>>>(bins.device());
  expectLaunched();
  bins.download();
  for (int n = 0; n < 8; ++n)
    check(bins[n] == 32, "shared memory atomics");
  return finish("atomics");
}
