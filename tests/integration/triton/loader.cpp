// Loads the code of Triton's kernels in argv[1] (scale_kernel) and argv[2] (softmax_kernel) by the
// driver API, and launches each once as Triton's launcher does: with two pointers behind the
// kernel's own arguments.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include <cuda.h>

namespace {

constexpr int kRows = 8, kColumns = 200, kStride = 208, kCount = kRows * kStride;
int failures = 0;

void expect(CUresult status, const char* what) {
  if (status != CUDA_SUCCESS)
    std::printf("%s: %d\n", what, static_cast<int>(status));
  failures += status != CUDA_SUCCESS;
}

CUfunction load(const char* path, const char* kernel) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  expect(cuModuleLoadData(&module, image.data()), "a module");
  expect(cuModuleGetFunction(&function, module, kernel), "a function");
  return function;
}

double sumOf(CUdeviceptr memory) {
  std::vector<float> numbers(kCount);
  expect(cuMemcpyDtoH(numbers.data(), memory, kCount * sizeof(float)), "results");
  double sum = 0;
  for (int i = 0; i < kCount; ++i)
    sum += numbers[i] * (i % 7);
  return sum;
}

} // namespace

int main(int, char** argv) {
  CUcontext context = nullptr;
  CUdeviceptr in = 0, out = 0, scratch = 0, profile = 0;
  expect(cuInit(0), "the driver");
  expect(cuDevicePrimaryCtxRetain(&context, 0), "a context");
  expect(cuCtxSetCurrent(context), "the context");
  const CUfunction scale = load(argv[1], "scale_kernel");
  const CUfunction softmax = load(argv[2], "softmax_kernel");
  for (CUdeviceptr* memory : {&in, &out}) {
    expect(cuMemAlloc(memory, kCount * sizeof(float)), "memory");
    expect(cuMemsetD32(*memory, 0, kCount), "zeros");
  }
  std::vector<float> numbers(kCount);
  for (int i = 0; i < kCount; ++i)
    numbers[i] = std::sin(0.1f * static_cast<float>(i));
  expect(cuMemcpyHtoD(in, numbers.data(), kCount * sizeof(float)), "numbers");
  int count = kCount - 16; // the code relies on a multiple of 16
  float factor = 2.5f;
  void* ofScale[] = {&in, &out, &count, &factor, &scratch, &profile};
  expect(cuLaunchKernel(scale, (kCount + 255) / 256, 1, 1, 128, 1, 1, 0, nullptr, ofScale, nullptr),
         "scale_kernel");
  std::printf("%.2f\n", sumOf(out));
  int stride = kStride, columns = kColumns;
  void* ofSoftmax[] = {&in, &out, &stride, &stride, &columns, &scratch, &profile};
  expect(cuLaunchKernel(softmax, kRows, 1, 1, 128, 1, 1, 16, nullptr, ofSoftmax, nullptr),
         "softmax_kernel");
  std::printf("%.2f\n", sumOf(in));
  return failures;
}
