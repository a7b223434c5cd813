// Four kernels, each twice: everything it knows in one structure that is passed by value, and as separate
// arguments. The structures are shaped as frameworks have them.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include "common.h"

namespace {

constexpr int kThreads = 128;

// Plain: a functor with sizes and a coefficient.
struct Smooth {
  const double* from;
  double* to;
  int count, taps;
  double weight;
  __device__ void operator()(int i) const {
    double value = from[i];
    for (int k = 1; k <= taps; ++k)
      value = value * weight + from[(i + k) % count] * (1 - weight);
    to[i] = value;
  }
};

// Views with extents and strides, as Kokkos has them: a pointer to memory of the host beside each.
struct View {
  void* tracker;
  double* data;
  long strides[2];
  int extents[2];
  __host__ __device__ double& at(int i, int j) const { return data[i * strides[0] + j * strides[1]]; }
};

struct Multiply {
  View matrix, vectors, result;
  int inner;
  __host__ __device__ void operator()(int row) const {
    for (int column = 0; column < result.extents[1]; ++column) {
      double sum = 0;
      for (int k = 0; k < inner; ++k)
        sum += matrix.at(row, k) * vectors.at(k, column);
      result.at(row, column) = sum;
    }
  }
};

/// A range policy, and a functor in it, in one structure of some 250 bytes.
template <typename Functor> struct ParallelFor {
  Functor functor;
  struct Policy {
    void* space;
    long begin, end;
    int chunk, granularity;
  } policy;
  __device__ void operator()() const {
    const long stride = long(blockDim.x) * gridDim.x;
    for (long i = policy.begin + blockIdx.x * blockDim.x + threadIdx.x; i < policy.end; i += stride)
      functor(int(i));
  }
};

template <typename Driver> __global__ void launchDriver(Driver driver) { driver(); }

// As RAJA launches a loop: the body, the iterator and the length are arguments; the body is a lambda.
template <typename Body> __global__ void forall(Body body, long begin, long length) {
  const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < length)
    body(begin + i);
}

template <typename Body> __global__ void loop(Body body) {
  const int stride = blockDim.x * gridDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < body.count; i += stride)
    body(i);
}

__global__ void smoothApart(const double* from, double* to, int count, int taps, double weight) {
  const Smooth body{from, to, count, taps, weight};
  const int stride = blockDim.x * gridDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    body(i);
}

__global__ void multiplyApart(double* matrix, long row, long column, double* vectors, long first, long second,
                              double* result, long down, long across, int inner, int columns, long begin,
                              long end) {
  const Multiply body{{nullptr, matrix, {row, column}, {0, 0}},
                      {nullptr, vectors, {first, second}, {0, 0}},
                      {nullptr, result, {down, across}, {0, columns}},
                      inner};
  const long stride = long(blockDim.x) * gridDim.x;
  for (long i = begin + blockIdx.x * blockDim.x + threadIdx.x; i < end; i += stride)
    body(int(i));
}

__global__ void polynomialApart(const double* x, double* y, int degree, double scale, long begin, long length) {
  const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= length)
    return;
  double value = 0;
  for (int k = degree; k >= 0; --k)
    value = value * x[begin + i] + scale / (k + 1);
  y[begin + i] = value;
}

__global__ void relaxApart(double* x, double* y, double omega, int sweeps, long begin, long end) {
  const long stride = long(blockDim.x) * gridDim.x;
  for (long i = begin + blockIdx.x * blockDim.x + threadIdx.x; i < end; i += stride) {
    double value = y[i];
    for (int s = 0; s < sweeps; ++s)
      value += omega * (x[i] - value * value);
    y[i] = value;
  }
}

double* filled(long count) {
  std::vector<double> host(count);
  for (long i = 0; i < count; ++i)
    host[i] = double(i % 17) / 16;
  double* device = nullptr;
  check(cudaMalloc(&device, count * sizeof(double)), "cuda");
  check(cudaMemcpy(device, host.data(), count * sizeof(double), cudaMemcpyHostToDevice), "cuda");
  return device;
}

double sum(const double* device, long count) {
  std::vector<double> host(count);
  check(cudaMemcpy(host.data(), device, count * sizeof(double), cudaMemcpyDeviceToHost), "cuda");
  double total = 0;
  for (const double value : host)
    total += value;
  return total;
}

} // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  const int blocks = (count + kThreads - 1) / kThreads;
  const int inner = 24, columns = 4;
  double* const x = filled(long(count) * inner);
  double* const y = filled(long(count) * columns);
  double* const z = filled(long(inner) * columns);

  const Smooth smooth{x, y, count, 12, 0.75};
  loop<<<blocks, kThreads>>>(smooth);
  const double packedSmooth = sum(y, count);
  smoothApart<<<blocks, kThreads>>>(x, y, count, 12, 0.75);
  std::printf("smooth %.12g %.12g\n", packedSmooth, sum(y, count));

  const Multiply multiply{{std::malloc(8), x, {1, count}, {count, inner}},
                          {std::malloc(8), z, {columns, 1}, {inner, columns}},
                          {std::malloc(8), y, {1, count}, {count, columns}},
                          inner};
  launchDriver<<<blocks, kThreads>>>(ParallelFor<Multiply>{multiply, {std::malloc(8), 0, count, 1, 1}});
  const double packedMultiply = sum(y, long(count) * columns);
  multiplyApart<<<blocks, kThreads>>>(x, 1, count, z, columns, 1, y, 1, count, inner, columns, 0, count);
  std::printf("multiply %.12g %.12g\n", packedMultiply, sum(y, long(count) * columns));

  const int degree = 20;
  const double scale = 0.5;
  forall<<<blocks, kThreads>>>(
      [=] __device__(long i) {
        double value = 0;
        for (int k = degree; k >= 0; --k)
          value = value * x[i] + scale / (k + 1);
        y[i] = value;
      },
      0, count);
  const double packedPolynomial = sum(y, count);
  polynomialApart<<<blocks, kThreads>>>(x, y, degree, scale, 0, count);
  std::printf("polynomial %.12g %.12g\n", packedPolynomial, sum(y, count));

  // Two lambdas, one in the other, in a policy.
  const int sweeps = 16;
  const double omega = 0.125;
  const auto one = [=] __device__(long i, double value) { return value + omega * (x[i] - value * value); };
  const auto all = [=] __device__(long i) {
    double value = y[i];
    for (int s = 0; s < sweeps; ++s)
      value = one(i, value);
    y[i] = value;
  };
  launchDriver<<<blocks, kThreads>>>(ParallelFor<decltype(all)>{all, {nullptr, 0, count, 1, 1}});
  const double packedRelax = sum(y, count);
  relaxApart<<<blocks, kThreads>>>(x, y, omega, sweeps, 0, count);
  std::printf("relax %.12g %.12g\n", packedRelax, sum(y, count));
}
