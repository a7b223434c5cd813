// Code that counts on the lanes of a warp going in step: nothing between a store and the loads of
// what other lanes have stored. What it is written for, and GPUs do, is that all lanes load, then
// all store.
#include "check.h"

constexpr int kThreads = 256;

template <typename T> __device__ void reduceWarp(volatile T* values, int t) {
  values[t] += values[t + 32];
  values[t] += values[t + 16];
  values[t] += values[t + 8];
  values[t] += values[t + 4];
  values[t] += values[t + 2];
  values[t] += values[t + 1];
}

/// The tail of a reduction, as it is found in many older codes.
template <typename T> __global__ void reduceVolatile(const T* in, T* out) {
  __shared__ T values[kThreads];
  const int t = threadIdx.x;
  values[t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  for (int distance = kThreads / 2; distance > 32; distance >>= 1) {
    if (t < distance)
      values[t] += values[t + distance];
    __syncthreads();
  }
  if (t < 32)
    reduceWarp<T>(values, t);
  if (t == 0)
    out[blockIdx.x] = values[0];
}

template <int Distance> struct Halves {
  static __device__ void add(double* values) {
    if (Distance > 16)
      __syncthreads();
    if (threadIdx.x < Distance) {
      values[threadIdx.x] += values[threadIdx.x + Distance];
      Halves<Distance / 2>::add(values);
    }
  }
};
template <> struct Halves<0> {
  static __device__ void add(double*) {}
};

/// Each half takes part in fewer steps; not volatile.
__global__ void reduceNested(const double* in, double* out) {
  __shared__ double values[kThreads];
  values[threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
  Halves<kThreads / 2>::add(values);
  if (threadIdx.x == 0)
    out[blockIdx.x] = values[0];
}

/// A loop whose barrier is left out where a warp is alone; the memory is dynamic.
__global__ void reduceLoop(const double* in, double* out) {
  extern __shared__ double dynamic[];
  const unsigned t = threadIdx.x;
  dynamic[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = blockDim.x / 2; distance > 0; distance >>= 1) {
    if (distance >= 32)
      __syncthreads();
    if (t < distance)
      dynamic[t] += dynamic[t + distance];
  }
  if (t == 0)
    out[blockIdx.x] = dynamic[0];
}

struct Pair {
  float real, imaginary;
};

/// Elements larger than what is read and written.
__global__ void reducePairs(const double* in, double* out) {
  __shared__ Pair values[64];
  const int t = threadIdx.x;
  values[t].real = float(in[t]);
  values[t].imaginary = float(-in[t]);
  __syncthreads();
  if (t < 32)
    for (int distance = 32; distance > 0; distance /= 2) {
      values[t].real += values[t + distance].real;
      values[t].imaginary += values[t + distance].imaginary;
    }
  if (t == 0)
    out[0] = values[0].real, out[1] = values[0].imaginary;
}

/// A scan of each warp: every step reads what the one before has written to the left.
__global__ void scanWarps(const double* in, double* out) {
  __shared__ volatile double sums[4][33];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  sums[warp][lane] = in[threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2)
    if (lane >= distance)
      sums[warp][lane] += sums[warp][lane - distance];
  out[threadIdx.x] = sums[warp][lane];
}

/// One lane writes what all read.
__global__ void broadcast(const double* in, double* out) {
  __shared__ double first[4];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  double sum = 0;
  for (int round = 0; round < 3; ++round) {
    if (lane == 31)
      first[warp] = in[threadIdx.x] * (round + 1);
    sum += first[warp];
  }
  out[threadIdx.x] = sum;
}

/// All load before one stores: each value moves by a lane.
__global__ void rotate(const double* in, double* out) {
  __shared__ double values[33];
  const int t = threadIdx.x;
  values[t] = in[t];
  if (t == 0)
    values[32] = in[0];
  const double next = values[t + 1];
  values[t] = next;
  out[t] = values[t];
}

/// The same in memory of the device.
__global__ void reduceGlobal(volatile double* values, double* out) {
  const int t = threadIdx.x;
  if (t < 16) {
    values[t] += values[t + 16];
    values[t] += values[t + 8];
    values[t] += values[t + 4];
    values[t] += values[t + 2];
    values[t] += values[t + 1];
  }
  if (t == 0)
    *out = values[0];
}

double sumOf(Buffer<double>& values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += values[i];
  return sum;
}

void testReductions() {
  Buffer<double> in(kThreads), out(2);
  for (int i = 0; i < kThreads; ++i)
    in[i] = i + 1;
  in.upload();
  const auto isSum = [&](int count, const char* what) {
    expectLaunched();
    out.download();
    check(out[0] == sumOf(in, count), what);
  };
  reduceVolatile<double><<<1, kThreads>>>(in.device(), out.device());
  isSum(kThreads, "reduction in volatile memory");
  reduceNested<<<1, kThreads>>>(in.device(), out.device());
  isSum(kThreads, "nested reduction");
  reduceLoop<<<1, 128, 128 * sizeof(double)>>>(in.device(), out.device());
  isSum(128, "reduction in a loop");
  reducePairs<<<1, 64>>>(in.device(), out.device());
  isSum(64, "reduction of pairs");
  check(out[1] == -out[0], "second part of pairs");
  Buffer<double> copy(32);
  for (int i = 0; i < 32; ++i)
    copy[i] = in[i];
  copy.upload();
  reduceGlobal<<<1, 32>>>(copy.device(), out.device());
  isSum(32, "reduction in memory of the device");
}

void testReductionOfIntegers() {
  Buffer<int> in(kThreads * 4), out(4);
  for (int i = 0; i < kThreads * 4; ++i)
    in[i] = i % 7;
  in.upload();
  reduceVolatile<int><<<4, kThreads>>>(in.device(), out.device());
  expectLaunched();
  out.download();
  for (int block = 0; block < 4; ++block) {
    int sum = 0;
    for (int i = 0; i < kThreads; ++i)
      sum += in[block * kThreads + i];
    check(out[block] == sum, "reduction of integers");
  }
}

void testExchanges() {
  Buffer<double> in(128), out(128);
  for (int i = 0; i < 128; ++i)
    in[i] = i * i % 19;
  in.upload();
  scanWarps<<<1, 128>>>(in.device(), out.device());
  expectLaunched();
  out.download();
  double sum = 0;
  for (int i = 0; i < 128; ++i) {
    sum = (i % 32 ? sum : 0) + in[i];
    check(out[i] == sum, "scan");
  }
  broadcast<<<1, 128>>>(in.device(), out.device());
  expectLaunched();
  out.download();
  for (int i = 0; i < 128; ++i)
    check(out[i] == 6 * in[i / 32 * 32 + 31], "broadcast");
  rotate<<<1, 32>>>(in.device(), out.device());
  expectLaunched();
  out.download();
  for (int i = 0; i < 32; ++i)
    check(out[i] == in[(i + 1) % 32], "rotation");
}

int main() {
  testReductions();
  testReductionOfIntegers();
  testExchanges();
  return finish("in_step");
}
