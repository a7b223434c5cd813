// Kernels whose loops and tables are known at run time only: as built, marked, made by NVRTC for
// the values at hand, and as C++ templates with everything known: what is the most that
// specialisation can give. Prints, per kernel, median microseconds of a launch of each, and
// milliseconds of the first marked launch and of the first with NVRTC, which compiles too. "-":
// there is no NVRTC, or no driver that loads what it makes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <proteus/Init.h>
#include <proteus/JitInterface.h>

#include "bodies.cuh"
#include "nvrtc.h"

#pragma clang diagnostic ignored "-Wc23-extensions"
constexpr char kBodies[] = {
#embed "bodies.cuh"
    , 0};

constexpr int kRadius = 4, kDegree = 12, kOrder = 8, kNeighbours = 32;
constexpr int kWidth = 4096, kRows = 2048, kCount = 1 << 22, kMatrices = 1 << 16,
              kParticles = 1 << 18;
constexpr int kLaunches = 101, kBlock = 256, kChecked = 1 << 12;

__global__ void stencil(const float* in, float* out, const float* weights, int taps, int radius,
                        int width, int count) {
  proteus::jit_array(weights, taps);
  proteus::jit_arg(radius);
  proteus::jit_arg(width);
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count)
    out[at] = row(in, weights, radius, width, at);
}
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
__attribute__((annotate("jit", 4, 5))) __global__ void products(const float* a, const float* b,
                                                                float* c, int order, int count) {
  product(a, b, c, order, count);
}
__global__ void forces(const float* x, const int* list, float* out, Cell cell, int count) {
  proteus::jit_object(cell);
  proteus::jit_arg(count);
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count)
    out[at] = force(x, list, cell, count, at);
}

// ---------------------------------------------------------------------------------------------------
template <typename T> T* managed(size_t count) {
  T* memory = nullptr;
  cudaMallocManaged(&memory, count * sizeof(T));
  return memory;
}
/// Bytes of 0x3f are numbers between 0 and 1.
template <typename T> T* onDevice(size_t count, int byte = 0x3f) {
  T* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemset(memory, byte, count * sizeof(T));
  return memory;
}

using Launch = std::function<void()>;

double medianMicroseconds(const Launch& launch) {
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

/// Milliseconds until a launch is done.
double once(const Launch& launch) {
  cudaDeviceSynchronize();
  const auto begin = std::chrono::steady_clock::now();
  launch();
  cudaDeviceSynchronize();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// A kernel in all its forms.
template <typename T> struct Subject {
  const char* name;
  T* out; ///< what it writes
  Launch marked;
  Launch ceiling;                   ///< as template
  std::function<Launch()> viaNvrtc; ///< makes it
};

/// The first elements that a launch writes.
template <typename T> std::vector<T> written(const Subject<T>& subject, const Launch& launch) {
  std::vector<T> found(kChecked);
  cudaMemset(subject.out, 0, kChecked * sizeof(T));
  launch();
  cudaMemcpy(found.data(), subject.out, kChecked * sizeof(T), cudaMemcpyDeviceToHost);
  return found;
}

template <typename T>
void compare(const Subject<T>& subject, const char* form, const Launch& launch) {
  const std::vector<T> expected = written(subject, subject.ceiling), got = written(subject, launch);
  for (int i = 0; i < kChecked; ++i)
    if (std::abs(got[i] - expected[i]) > 1e-5 * std::abs(expected[i])) {
      printf("%s %s: element %d is %g, not %g\n", subject.name, form, i, double(got[i]),
             double(expected[i]));
      return;
    }
}

template <typename T> void measure(const Subject<T>& subject) {
  proteus::disable();
  compare(subject, "as built", subject.marked);
  const double asBuilt = medianMicroseconds(subject.marked);
  proteus::enable();
  const double first = once(subject.marked);
  compare(subject, "marked", subject.marked);
  subject.ceiling();
  const double asMarked = medianMicroseconds(subject.marked),
               asTemplate = medianMicroseconds(subject.ceiling);
  printf("%-10s %9.2f %9.2f ", subject.name, asBuilt, asMarked);
  try {
    Launch made;
    const double firstMade = once([&] { (made = subject.viaNvrtc())(); });
    printf("%9.2f %9.2f %9.2f %9.2f\n", medianMicroseconds(made), asTemplate, first, firstMade);
    compare(subject, "via NVRTC", made);
  } catch (const std::runtime_error& error) {
    printf("%9s %9.2f %9.2f %9s\n", "-", asTemplate, first, "-");
    fprintf(stderr, "%s via NVRTC: %s\n", subject.name, error.what());
  }
}

/// "NAME<1, 2>", of values that the compiler did not know.
std::string instance(const char* name, const std::vector<int>& values) {
  std::string text = name;
  for (const int value : values)
    text += (text == name ? "<" : ", ") + std::to_string(value);
  return text + ">";
}

/// Tables as NVRTC is told of them.
template <typename T> std::vector<std::string> tables(const T* weights, int taps) {
  std::string text;
  char number[32];
  for (int i = 0; i < taps; ++i) {
    snprintf(number, sizeof number, "%s%.17g", i == 0 ? "" : ",", double(weights[i]));
    text += number;
  }
  return {"-DWEIGHTS=" + text, "-DCOEFFICIENTS=" + text};
}

void measureStencil() {
  const int cells = kWidth * kRows, blocks = (cells + kBlock - 1) / kBlock;
  float *in = onDevice<float>(cells), *out = onDevice<float>(cells), *weights = managed<float>(9);
  const float given[] = {WEIGHTS};
  std::copy(given, given + 9, weights);
  measure<float>({"stencil", out,
                  [=] { stencil<<<blocks, kBlock>>>(in, out, weights, 9, kRadius, kWidth, cells); },
                  [=] { stencilOf<kRadius, kWidth><<<blocks, kBlock>>>(in, out, cells); },
                  [=] {
                    const NvrtcKernel made(kBodies, instance("stencilOf", {kRadius, kWidth}),
                                           tables(weights, 9));
                    return [=] { made.launch(blocks, kBlock, in, out, cells); };
                  }});
}

void measurePolynomial() {
  double *x = onDevice<double>(kCount), *y = onDevice<double>(kCount),
         *coefficients = managed<double>(kDegree);
  const double terms[] = {COEFFICIENTS};
  std::copy(terms, terms + kDegree, coefficients);
  const int blocks = (kCount + kBlock - 1) / kBlock, count = kCount;
  measure<double>({"polynomial", y,
                   [=] { polynomial<<<blocks, kBlock>>>(x, y, coefficients, kDegree, kCount); },
                   [=] { polynomialOf<kDegree><<<blocks, kBlock>>>(x, y, kCount); },
                   [=] {
                     const NvrtcKernel made(kBodies, instance("polynomialOf", {kDegree}),
                                            tables(coefficients, kDegree));
                     return [=] { made.launch(blocks, kBlock, x, y, count); };
                   }});
}

void measureForces() {
  float *places = onDevice<float>(kParticles), *sums = onDevice<float>(kParticles);
  int* list = onDevice<int>(size_t(kNeighbours) * kParticles, 0);
  const Cell cell{.4f, 1.5f, kNeighbours, 1};
  const int blocks = kParticles / kBlock;
  measure<float>(
      {"forces", sums, [=] { forces<<<blocks, kBlock>>>(places, list, sums, cell, kParticles); },
       [=] { forcesOf<kNeighbours, kParticles><<<blocks, kBlock>>>(places, list, sums); },
       [=] {
         const NvrtcKernel made(kBodies, instance("forcesOf", {kNeighbours, kParticles}), {});
         return [=] { made.launch(blocks, kBlock, places, list, sums); };
       }});
}

int main() {
  printf("kernel        plain    marked     nvrtc  template     first  nvrtc's first\n");
  measureStencil();
  measurePolynomial();
  const size_t elements = size_t(kMatrices) * kOrder * kOrder;
  float *a = onDevice<float>(elements), *b = onDevice<float>(elements),
        *c = onDevice<float>(elements);
  const int blocks = kMatrices * kOrder / kBlock;
  measure<float>({"products", c, [=] { products<<<blocks, kBlock>>>(a, b, c, kOrder, kMatrices); },
                  [=] { productsOf<kOrder, kMatrices><<<blocks, kBlock>>>(a, b, c); },
                  [=] {
                    const NvrtcKernel made(kBodies, instance("productsOf", {kOrder, kMatrices}),
                                           {});
                    return [=] { made.launch(blocks, kBlock, a, b, c); };
                  }});
  measureForces();

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
