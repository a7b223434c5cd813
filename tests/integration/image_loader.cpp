// Loads the device code in argv[1] by the driver API alone and launches its kernel `scale` three
// times: twice the same with memory at other addresses, then with another number. It sets the
// variable `bias`, unless another argument follows. If that is "options", the driver is told how to
// compile.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include <cuda.h>

namespace {

constexpr int kCount = 1000;
int failures = 0;

void expect(CUresult status, const char* what) {
  if (status != CUDA_SUCCESS)
    std::printf("%s: %d\n", what, static_cast<int>(status));
  failures += status != CUDA_SUCCESS;
}

struct Job {
  CUdeviceptr in, out;
  long count;
  double factor;
};

double run(CUfunction scale, size_t shiftedBy, int rounds) {
  CUdeviceptr in = 0, out = 0, unused = 0;
  expect(cuMemAlloc(&unused, shiftedBy), "memory that moves what follows");
  expect(cuMemAlloc(&in, kCount * sizeof(double)), "memory");
  expect(cuMemAlloc(&out, kCount * sizeof(double)), "memory");
  std::vector<double> numbers(kCount);
  for (int i = 0; i < kCount; ++i)
    numbers[i] = 0.25 * i * i - 3 * i;
  expect(cuMemcpyHtoD(in, numbers.data(), kCount * sizeof(double)), "numbers");
  expect(cuMemsetD32(out, 0, 2 * kCount), "zeros");
  Job job{in, out, kCount, 1.5};
  unsigned long long step = 7;
  void* args[] = {&job, &step, &rounds};
  expect(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, nullptr, args, nullptr), "a launch");
  expect(cuMemcpyDtoH(numbers.data(), out, kCount * sizeof(double)), "results");
  double sum = 0;
  for (const double number : numbers)
    sum += number;
  for (const CUdeviceptr memory : {in, out, unused})
    expect(cuMemFree(memory), "memory back");
  return sum;
}

} // namespace

int main(int count, char** argv) {
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  image.push_back(0);
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUdeviceptr bias = 0;
  size_t bytes = 0;
  const double value = 2.5;
  expect(cuInit(0), "the driver");
  expect(cuDevicePrimaryCtxRetain(&context, 0), "a context");
  expect(cuCtxSetCurrent(context), "the context");
  CUjit_option options[] = {CU_JIT_MAX_REGISTERS, CU_JIT_OPTIMIZATION_LEVEL};
  void* values[] = {reinterpret_cast<void*>(24), reinterpret_cast<void*>(1)};
  if (count > 2 && std::string_view(argv[2]) == "options")
    expect(cuModuleLoadDataEx(&module, image.data(), 2, options, values), "a module");
  else
    expect(cuModuleLoadData(&module, image.data()), "a module");
  image.assign(image.size(), 'x'); // a driver keeps its own
  expect(cuModuleGetFunction(&scale, module, "scale"), "a function");
  if (count == 2) {
    expect(cuModuleGetGlobal(&bias, &bytes, module, "bias"), "a variable");
    expect(cuMemcpyHtoD(bias, &value, sizeof value), "its value");
  }
  std::printf("%.2f, ", run(scale, 4096, 2));
  std::printf("%.2f, ", run(scale, 1 << 20, 2));
  std::printf("%.2f\n", run(scale, 4096, 3));
  expect(cuModuleUnload(module), "the end of a module");
  return failures;
}
