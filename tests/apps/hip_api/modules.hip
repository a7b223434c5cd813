// Loads the code objects its arguments name (one, another with kernels of the same names, one
// without IR) and launches their kernels in every form there is. It has a kernel and a variable of
// the same names itself. Prints the same text whether it is recorded or not.
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <dlfcn.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#define CHECK(call) check((call), #call)

namespace {

void check(hipError_t status, const char* what) {
  if (status != hipSuccess)
    std::printf("%s: %s\n", what, hipGetErrorName(status));
}

constexpr int kCount = 1000, kThreads = 128;
constexpr unsigned kBlocks = (kCount + kThreads - 1) / kThreads;

struct Factors {
  int first, second;
};

std::vector<char> contentOf(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

hipModule_t loadCopy(const char* path) {
  hipModule_t module{};
  std::vector<char> code = contentOf(path);
  CHECK(hipModuleLoadData(&module, code.data()));
  code.assign(code.size(), 0); // it is ours again
  return module;
}

hipFunction_t kernelOf(hipModule_t module, const char* name) {
  hipFunction_t function{};
  CHECK(hipModuleGetFunction(&function, module, name));
  return function;
}

void set(hipModule_t module, const char* name, std::vector<int> values) {
  hipDeviceptr_t place{};
  size_t bytes = 0;
  CHECK(hipModuleGetGlobal(&place, &bytes, module, name));
  if (bytes != values.size() * sizeof(int))
    std::printf("%s has %zu bytes\n", name, bytes);
  CHECK(hipMemcpyHtoD(place, values.data(), bytes));
}

int* data = nullptr;

void say(const char* what) {
  std::vector<int> host(kCount);
  CHECK(hipMemcpy(host.data(), data, kCount * sizeof(int), hipMemcpyDeviceToHost));
  unsigned sum = 0;
  for (const int value : host)
    sum = sum * 31 + unsigned(value);
  std::printf("%s: %u\n", what, sum);
}

void launch(hipFunction_t function, Factors factors) {
  int count = kCount;
  void* arguments[] = {&data, &count, &factors};
  CHECK(hipModuleLaunchKernel(function, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments,
                              nullptr));
}

void launchPacked(hipFunction_t function, Factors factors) {
  struct {
    int* data;
    int count;
    Factors factors;
  } packed = {data, kCount, factors};
  size_t bytes = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  CHECK(hipModuleLaunchKernel(function, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, nullptr, extra));
}

void launchInThreads(hipFunction_t function, Factors factors) {
  int count = kCount;
  void* arguments[] = {&data, &count, &factors};
  hipEvent_t begin{}, end{};
  float milliseconds = -1;
  CHECK(hipEventCreate(&begin));
  CHECK(hipEventCreate(&end));
  CHECK(hipExtModuleLaunchKernel(function, kBlocks * kThreads, 1, 1, kThreads, 1, 1, 0, nullptr,
                                 arguments, nullptr, begin, end, 0));
  CHECK(hipEventSynchronize(end));
  CHECK(hipEventElapsedTime(&milliseconds, begin, end));
  std::printf("events: %s\n", milliseconds >= 0 ? "in order" : "not in order");
}

/// By a function that is newer than the oldest headers.
void launchTogether(hipFunction_t function, Factors factors) {
  int count = kCount;
  void* arguments[] = {&data, &count, &factors};
  using Launch = hipError_t (*)(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, unsigned, hipStream_t, void**);
  const auto together =
      reinterpret_cast<Launch>(dlsym(RTLD_DEFAULT, "hipModuleLaunchCooperativeKernel"));
  CHECK(together(function, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments));
}

void launchOne(hipFunction_t function, void** arguments) {
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
}

} // namespace

__device__ int step = 100;

extern "C" __global__ void work(int* values, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    values[i] += step;
}

int main(int, char** argv) {
  CHECK(hipMalloc(reinterpret_cast<void**>(&data), kCount * sizeof(int)));
  CHECK(hipMemset(data, 0, kCount * sizeof(int)));
  work<<<1, 64>>>(data, kCount);
  say("own");

  hipModule_t one = loadCopy(argv[1]), other{}, again{}, plain{};
  launch(kernelOf(one, "work"), {2, 1});
  say("pointers");
  set(one, "step", {11});
  set(one, "bias", {20, 30});
  launchOne(kernelOf(one, "count"), nullptr);
  launchPacked(kernelOf(one, "work"), {3, 4});
  say("packed");
  launchInThreads(kernelOf(one, "work"), {5, 6});
  say("in threads");
  launchTogether(kernelOf(one, "work"), {13, 14});
  say("cooperatively");

  CHECK(hipModuleLoad(&other, argv[2]));
  launch(kernelOf(other, "work"), {7, 8});
  say("of the same name");

  CHECK(hipModuleUnload(one));
  if (hipModuleLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == hipSuccess)
    std::printf("a kernel ran that is none\n");
  static_cast<void>(hipGetLastError());
  const std::vector<char> code = contentOf(argv[1]);
  CHECK(hipModuleLoadDataEx(&again, code.data(), 0, nullptr, nullptr));
  int by = 40;
  void* arguments[] = {&by};
  launchOne(kernelOf(again, "raise"), arguments);
  launch(kernelOf(again, "work"), {9, 10});
  say("loaded again");

  CHECK(hipModuleLoad(&plain, argv[3]));
  launch(kernelOf(plain, "alone"), {11, 12});
  say("without IR");
  CHECK(hipModuleUnload(plain));
  CHECK(hipModuleUnload(plain) == hipSuccess ? hipErrorUnknown : hipSuccess);
  static_cast<void>(hipGetLastError());
  std::printf("then: %s\n", hipGetErrorName(hipGetLastError()));
}
