// Kernels whose sizes and tables are known at run time only, made by every frontend, by NVRTC, and
// built ahead of time as C++ templates: how fast is what comes out. Prints one line of JSON per
// kernel: microseconds of a launch (median by events) and milliseconds until the first one is done.
// usage: frontend_kernels [small] [FORM...]    forms: template nvrtc dsl ir clang nvcc
//        frontend_kernels --ir    prints what clang made of the templates when this was built
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <proteus/CppJitModule.h>
#include <proteus/JitFrontend.h>

#include "bodies.cuh"
#include "nvrtc.h"

#pragma clang diagnostic ignored "-Wc23-extensions"
constexpr char kBodies[] = {
#embed "bodies.cuh"
    , 0};
constexpr char kIr[] = {
#embed IR_FILE
    , 0};

using namespace proteus;
using namespace builtins::gpu;

constexpr int kRadius = 4, kWidth = 4096, kTerms = 12, kOrder = 8, kNeighbours = 32;
constexpr int kCells = kWidth * 2048, kCount = 1 << 22, kMatrices = 1 << 16, kParticles = 1 << 18;
constexpr int kBlock = 256, kChecked = 1 << 12;
constexpr float kWeights[] = {WEIGHTS};
constexpr double kCoefficients[] = {COEFFICIENTS};
static bool isSmall = false;
static std::set<std::string> wanted;

using Launch = std::function<void()>;

/// A kernel, and how to come by it.
struct Case {
  const char* name;
  const char* instance; ///< "stencilOf<4, 4096>"
  const char* symbol;
  const char* parameters;
  int blocks;
  std::vector<void*> arguments; ///< where they are
  void* out;
  bool isDouble;
  Launch ahead;
  std::function<Launch()> written; ///< in PJ-DSL
};

template <typename T> static T* onDevice(size_t count, int byte = 0x3f) {
  T* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemset(memory, byte, count * sizeof(T));
  return memory;
}

static double medianMicroseconds(const Launch& launch) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> times(isSmall ? 5 : 201);
  for (float& time : times) {
    cudaEventRecord(begin);
    launch();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&time, begin, end);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] * 1e3;
}

static std::vector<double> written(const Case& one, const Launch& launch) {
  const size_t bytes = kChecked * (one.isDouble ? sizeof(double) : sizeof(float));
  std::vector<char> content(bytes);
  cudaMemset(one.out, 0, bytes);
  launch();
  cudaMemcpy(content.data(), one.out, bytes, cudaMemcpyDeviceToHost);
  std::vector<double> values(kChecked);
  for (int i = 0; i < kChecked; ++i)
    values[i] = one.isDouble ? reinterpret_cast<double*>(content.data())[i]
                             : double(reinterpret_cast<float*>(content.data())[i]);
  return values;
}

/// In PJ-DSL. The tables become constants where the host's loops write them.
template <typename... Args> struct Written {
  JitModule module{"cuda"};
  KernelHandle<void(Args...)> kernel = module.addKernel<void(Args...)>("written");

  /// The thread's number in the grid.
  auto number() {
    auto& f = kernel.F;
    return f.defVar(
        (f.callBuiltin(getBlockIdX) * f.callBuiltin(getBlockDimX) + f.callBuiltin(getThreadIdX))
            .template convert<int>());
  }
};

static auto writtenStencil(int radius, int width) {
  auto made = std::make_shared<Written<const float*, float*, int>>();
  auto& f = made->kernel.F;
  f.function([&] {
    auto& in = f.getArg<0>();
    auto& out = f.getArg<1>();
    auto& count = f.getArg<2>();
    auto at = made->number();
    f.beginIf(at < count);
    auto x = f.defVar(at % width);
    auto sum = f.defVar(0.f);
    f.beginIf(x < radius);
    x = width;
    f.endIf();
    f.beginIf(x >= width - radius);
    sum = in[at];
    f.endIf();
    f.beginIf(x < width - radius);
    for (int i = -radius; i <= radius; ++i)
      sum += kWeights[i + radius] * in[at + i];
    f.endIf();
    out[at] = sum;
    f.endIf();
    f.ret();
  });
  return made;
}

static auto writtenPolynomial(int terms) {
  auto made = std::make_shared<Written<const double*, double*, int>>();
  auto& f = made->kernel.F;
  f.function([&] {
    auto& x = f.getArg<0>();
    auto& y = f.getArg<1>();
    auto& count = f.getArg<2>();
    auto at = made->number();
    f.beginIf(at < count);
    auto value = f.defVar(0.0);
    for (int i = terms - 1; i >= 0; --i)
      value = value * x[at] + kCoefficients[i];
    y[at] = value;
    f.endIf();
    f.ret();
  });
  return made;
}

static auto writtenProducts(int order, int count) {
  auto made = std::make_shared<Written<const float*, const float*, float*>>();
  auto& f = made->kernel.F;
  f.function([&] {
    auto& a = f.getArg<0>();
    auto& b = f.getArg<1>();
    auto& c = f.getArg<2>();
    auto at = made->number();
    auto matrix = f.defVar(at / order);
    f.beginIf(matrix < count);
    auto right = f.defVar(matrix.convert<size_t>() * size_t(order * order));
    auto left = f.defVar(right + (at % order).convert<size_t>() * size_t(order));
    auto column = f.declVar<size_t>("column");
    f.forLoop(column, size_t(0), size_t(order), size_t(1), [&] {
      auto sum = f.defVar(0.f);
      for (int i = 0; i < order; ++i)
        sum += a[left + size_t(i)] * b[right + size_t(i * order) + column];
      c[left + column] = sum;
    });
    f.endIf();
    f.ret();
  });
  return made;
}

static auto writtenForces(int neighbours, int count) {
  auto made = std::make_shared<Written<const float*, const int*, float*>>();
  auto& f = made->kernel.F;
  f.function([&] {
    auto& x = f.getArg<0>();
    auto& list = f.getArg<1>();
    auto& out = f.getArg<2>();
    auto at = made->number();
    f.beginIf(at < count);
    auto sum = f.defVar(0.f);
    auto i = f.declVar<size_t>("i");
    f.forLoop(i, size_t(0), size_t(neighbours), size_t(1), [&] {
      auto distance = f.defVar(x[list[i * size_t(count) + at.convert<size_t>()]] - x[at]);
      distance -= f.call<float(float)>("__nv_rintf", distance);
      auto square = f.defVar(distance * distance + 1e-6f);
      f.beginIf(square < .4f * .4f);
      sum += 1.5f / (square * square) * distance;
      f.endIf();
    });
    out[at] = sum;
    f.endIf();
    f.ret();
  });
  return made;
}

/// A source of one instance, for clang and nvcc.
static std::string sourceOf(const Case& one) {
  return std::string(kBodies) + "\ntemplate __global__ void " + one.instance + one.parameters +
         ";\n";
}

template <typename Module> static Launch launchOf(std::shared_ptr<Module> module, const Case& one) {
  void* const kernel = module->getKernelAddress(one.symbol);
  return [=, arguments = one.arguments, blocks = one.blocks]() mutable {
    (void)module->launch(kernel, blocks, kBlock, arguments.data(), 0, nullptr);
  };
}

static Launch make(const std::string& form, const Case& one) {
  if (form == "template")
    return one.ahead;
  if (form == "dsl")
    return one.written();
  if (form == "ir")
    return launchOf(std::make_shared<LLVMIRJitModule>("cuda", kIr), one);
  if (form == "nvrtc") {
    const auto made =
        std::make_shared<NvrtcKernel>(kBodies, one.instance, std::vector<std::string>());
    return [=, arguments = one.arguments, blocks = one.blocks]() mutable {
      made->launchAll(blocks, kBlock, arguments.data());
    };
  }
  const auto backend = form == "nvcc" ? CppJitCompilerBackend::Nvcc : CppJitCompilerBackend::Clang;
  return launchOf(
      std::make_shared<CppJitModule>("cuda", sourceOf(one), std::vector<std::string>(), backend),
      one);
}

static void measureForm(const Case& one, const std::string& form,
                        const std::vector<double>& expected) {
  try {
    cudaDeviceSynchronize();
    const auto begin = std::chrono::steady_clock::now();
    const Launch launch = make(form, one);
    launch();
    cudaDeviceSynchronize();
    const std::chrono::duration<double, std::milli> first =
        std::chrono::steady_clock::now() - begin;
    const std::vector<double> got = written(one, launch);
    for (int i = 0; i < kChecked; ++i)
      if (std::abs(got[i] - expected[i]) > 1e-4 * std::abs(expected[i]) + 1e-6)
        throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(got[i]) +
                                 ", not " + std::to_string(expected[i]));
    std::printf(", \"%s\": {\"us\": %.2f, \"first_ms\": %.2f}", form.c_str(),
                medianMicroseconds(launch), first.count());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s, %s: %s\n", one.name, form.c_str(), error.what());
  }
}

static void measureAll(const Case& one) {
  std::printf("{\"kernel\": \"%s\"", one.name);
  const std::vector<double> expected = written(one, one.ahead);
  for (const char* form : {"template", "nvrtc", "dsl", "ir", "clang", "nvcc"})
    if (wanted.empty() || wanted.count(form))
      measureForm(one, form, expected);
  std::printf("}\n");
  std::fflush(stdout);
}

template <typename Made, typename... Args>
static Launch launchWritten(std::shared_ptr<Made> made, int blocks, Args... arguments) {
  return [=] { (void)made->kernel.launch(blocks, kBlock, 0, nullptr, arguments...); };
}

static int blocksOf(int threads) { return isSmall ? kChecked / kBlock : threads / kBlock; }

static void measureStencil() {
  auto *in = onDevice<float>(kCells), *out = onDevice<float>(kCells);
  int count = kCells;
  const int blocks = blocksOf(kCells);
  measureAll(
      {"stencil",
       "stencilOf<4, 4096>",
       "_Z9stencilOfILi4ELi4096EEvPKfPfi",
       "(const float*, float*, int)",
       blocks,
       {&in, &out, &count},
       out,
       false,
       [=] { stencilOf<kRadius, kWidth><<<blocks, kBlock>>>(in, out, count); },
       [=] { return launchWritten(writtenStencil(kRadius, kWidth), blocks, in, out, count); }});
}

static void measurePolynomial() {
  auto *x = onDevice<double>(kCount), *y = onDevice<double>(kCount);
  int count = kCount;
  const int blocks = blocksOf(kCount);
  measureAll({"polynomial",
              "polynomialOf<12>",
              "_Z12polynomialOfILi12EEvPKdPdi",
              "(const double*, double*, int)",
              blocks,
              {&x, &y, &count},
              y,
              true,
              [=] { polynomialOf<kTerms><<<blocks, kBlock>>>(x, y, count); },
              [=] { return launchWritten(writtenPolynomial(kTerms), blocks, x, y, count); }});
}

static void measureProducts() {
  const size_t elements = size_t(kMatrices) * kOrder * kOrder;
  auto *a = onDevice<float>(elements), *b = onDevice<float>(elements),
       *c = onDevice<float>(elements);
  const int blocks = blocksOf(kMatrices * kOrder);
  measureAll({"products",
              "productsOf<8, 65536>",
              "_Z10productsOfILi8ELi65536EEvPKfS1_Pf",
              "(const float*, const float*, float*)",
              blocks,
              {&a, &b, &c},
              c,
              false,
              [=] { productsOf<kOrder, kMatrices><<<blocks, kBlock>>>(a, b, c); },
              [=] { return launchWritten(writtenProducts(kOrder, kMatrices), blocks, a, b, c); }});
}

static void measureForces() {
  auto *x = onDevice<float>(kParticles), *out = onDevice<float>(kParticles);
  auto* list = onDevice<int>(size_t(kNeighbours) * kParticles, 0);
  std::vector<float> places(kParticles);
  for (int i = 0; i < kParticles; ++i)
    places[i] = float(i % 977) / 977;
  cudaMemcpy(x, places.data(), places.size() * sizeof(float), cudaMemcpyHostToDevice);
  const int blocks = blocksOf(kParticles);
  measureAll({"forces",
              "forcesOf<32, 262144>",
              "_Z8forcesOfILi32ELi262144EEvPKfPKiPf",
              "(const float*, const int*, float*)",
              blocks,
              {&x, &list, &out},
              out,
              false,
              [=] { forcesOf<kNeighbours, kParticles><<<blocks, kBlock>>>(x, list, out); },
              [=] {
                return launchWritten(writtenForces(kNeighbours, kParticles), blocks, x, list, out);
              }});
}

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "--ir") == 0) {
    std::fputs(kIr, stdout);
    return 0;
  }
  for (int i = 1; i < count; ++i)
    if (std::strcmp(arguments[i], "small") == 0)
      isSmall = true;
    else
      wanted.insert(arguments[i]);
  measureStencil();
  measurePolynomial();
  measureProducts();
  measureForces();
}
