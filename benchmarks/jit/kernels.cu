// Kernels whose loops and tables are known at run time only, marked, beside the same as C++
// templates with everything known: what is the most that specialisation can give. Prints, per
// kernel, median microseconds of a launch, marked and as template, and of the first marked launch
// in milliseconds. PROTEUS_DISABLE=1 gives the plain build's times in place of the marked.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include <cuda_runtime.h>
#include <proteus/JitInterface.h>

constexpr int kRadius = 4, kDegree = 12, kOrder = 8, kNeighbours = 32;
constexpr int kWidth = 4096, kRows = 2048, kCount = 1 << 22, kMatrices = 1 << 16,
              kParticles = 1 << 18;
constexpr int kLaunches = 101, kBlock = 256;

// --- one row of a stencil -----------------------------------------------------------------------
__device__ float row(const float* in, const float* weights, int radius, int width, int at) {
  float sum = 0;
  const int x = at % width;
  if (x < radius || x >= width - radius)
    return in[at];
  for (int i = -radius; i <= radius; ++i)
    sum += weights[i + radius] * in[at + i];
  return sum;
}
__global__ void stencil(const float* in, float* out, const float* weights, int taps, int radius,
                        int width, int count) {
  proteus::jit_array(weights, taps);
  proteus::jit_arg(radius);
  proteus::jit_arg(width);
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count)
    out[at] = row(in, weights, radius, width, at);
}
template <int Radius, int Width> __global__ void stencilOf(const float* in, float* out, int count) {
  constexpr float weights[] = {.04f, .08f, .12f, .16f, .2f, .16f, .12f, .08f, .04f};
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count)
    out[at] = row(in, weights, Radius, Width, at);
}

// --- a polynomial -------------------------------------------------------------------------------
__global__ void polynomial(const double* x, double* y, const double* coefficients, int terms,
                           int count) {
  proteus::jit_array(coefficients, terms);
  proteus::jit_arg(terms);
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count)
    return;
  double value = 0;
  for (int i = terms - 1; i >= 0; --i)
    value = value * x[at] + coefficients[i];
  y[at] = value;
}
template <int Terms> __global__ void polynomialOf(const double* x, double* y, int count) {
  constexpr double coefficients[] = {1, .5, .25, .125, .0625, .03125, .3, .2, .1, .7, .6, .4};
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count)
    return;
  double value = 0;
  for (int i = Terms - 1; i >= 0; --i)
    value = value * x[at] + coefficients[i];
  y[at] = value;
}

// --- small matrix products, one thread a row
// ------------------------------------------------------
__device__ void product(const float* a, const float* b, float* c, int order, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const int matrix = at / order, line = at % order;
  if (matrix >= count)
    return;
  const float* left = a + size_t(matrix) * order * order + size_t(line) * order;
  const float* right = b + size_t(matrix) * order * order;
  for (int column = 0; column < order; ++column) {
    float sum = 0;
    for (int i = 0; i < order; ++i)
      sum += left[i] * right[i * order + column];
    c[size_t(matrix) * order * order + size_t(line) * order + column] = sum;
  }
}
__attribute__((annotate("jit", 4, 5))) __global__ void products(const float* a, const float* b,
                                                                float* c, int order, int count) {
  product(a, b, c, order, count);
}
template <int Order, int Count>
__global__ void productsOf(const float* a, const float* b, float* c) {
  product(a, b, c, Order, Count);
}

// --- forces over a neighbour list
// -----------------------------------------------------------------
struct Cell {
  float cutoff, strength;
  int neighbours, periodic;
};
__device__ float force(const float* x, const int* list, const Cell& cell, int count, int at) {
  float sum = 0;
  for (int i = 0; i < cell.neighbours; ++i) {
    float distance = x[list[size_t(i) * count + at]] - x[at];
    if (cell.periodic)
      distance -= rintf(distance);
    const float square = distance * distance + 1e-6f;
    if (square < cell.cutoff * cell.cutoff)
      sum += cell.strength / (square * square) * distance;
  }
  return sum;
}
__global__ void forces(const float* x, const int* list, float* out, Cell cell, int count) {
  proteus::jit_object(cell);
  proteus::jit_arg(count);
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count)
    out[at] = force(x, list, cell, count, at);
}
template <int Neighbours, int Count>
__global__ void forcesOf(const float* x, const int* list, float* out) {
  const Cell cell{.4f, 1.5f, Neighbours, 1};
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < Count)
    out[at] = force(x, list, cell, Count, at);
}

// ---------------------------------------------------------------------------------------------------
template <typename T> T* managed(size_t count) {
  T* memory = nullptr;
  cudaMallocManaged(&memory, count * sizeof(T));
  return memory;
}
template <typename T> T* onDevice(size_t count) {
  T* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemset(memory, 0, count * sizeof(T));
  return memory;
}

double medianMicroseconds(const std::function<void()>& launch) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> times;
  for (int i = 0; i < kLaunches; ++i) {
    float milliseconds = 0;
    cudaEventRecord(begin);
    launch();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  return times[kLaunches / 2] * 1e3;
}

void measure(const char* name, const std::function<void()>& marked,
             const std::function<void()>& ceiling) {
  cudaDeviceSynchronize();
  const auto begin = std::chrono::steady_clock::now();
  marked();
  cudaDeviceSynchronize();
  const std::chrono::duration<double, std::milli> first = std::chrono::steady_clock::now() - begin;
  ceiling();
  const double asMarked = medianMicroseconds(marked), asTemplate = medianMicroseconds(ceiling);
  printf("%-10s %9.2f %9.2f %9.2f\n", name, asMarked, asTemplate, first.count());
}

int main() {
  printf("kernel        marked  template     first\n");
  const int cells = kWidth * kRows, blocks = (cells + kBlock - 1) / kBlock;
  float *in = onDevice<float>(cells), *out = onDevice<float>(cells), *weights = managed<float>(9);
  const float given[] = {.04f, .08f, .12f, .16f, .2f, .16f, .12f, .08f, .04f};
  std::copy(given, given + 9, weights);
  measure(
      "stencil", [&] { stencil<<<blocks, kBlock>>>(in, out, weights, 9, kRadius, kWidth, cells); },
      [&] { stencilOf<kRadius, kWidth><<<blocks, kBlock>>>(in, out, cells); });

  double *x = onDevice<double>(kCount), *y = onDevice<double>(kCount),
         *coefficients = managed<double>(kDegree);
  const double terms[] = {1, .5, .25, .125, .0625, .03125, .3, .2, .1, .7, .6, .4};
  std::copy(terms, terms + kDegree, coefficients);
  const int many = (kCount + kBlock - 1) / kBlock;
  measure(
      "polynomial", [&] { polynomial<<<many, kBlock>>>(x, y, coefficients, kDegree, kCount); },
      [&] { polynomialOf<kDegree><<<many, kBlock>>>(x, y, kCount); });

  const size_t elements = size_t(kMatrices) * kOrder * kOrder;
  float *a = onDevice<float>(elements), *b = onDevice<float>(elements),
        *c = onDevice<float>(elements);
  const int lines = kMatrices * kOrder / kBlock;
  measure(
      "products", [&] { products<<<lines, kBlock>>>(a, b, c, kOrder, kMatrices); },
      [&] { productsOf<kOrder, kMatrices><<<lines, kBlock>>>(a, b, c); });

  float *places = onDevice<float>(kParticles), *sums = onDevice<float>(kParticles);
  int* list = onDevice<int>(size_t(kNeighbours) * kParticles);
  const Cell cell{.4f, 1.5f, kNeighbours, 1};
  const int groups = kParticles / kBlock;
  measure(
      "forces", [&] { forces<<<groups, kBlock>>>(places, list, sums, cell, kParticles); },
      [&] { forcesOf<kNeighbours, kParticles><<<groups, kBlock>>>(places, list, sums); });

  // What a launch costs the host, many times without waiting.
  const auto begin = std::chrono::steady_clock::now();
  constexpr int kHot = 20000;
  for (int i = 0; i < kHot; ++i)
    products<<<1, 32>>>(a, b, c, 1, 1);
  const std::chrono::duration<double, std::nano> hot = std::chrono::steady_clock::now() - begin;
  cudaDeviceSynchronize();
  printf("a launch takes the host %.0f ns; status %d\n", hot.count() / kHot,
         static_cast<int>(cudaGetLastError()));
}
