// y = a * x + y, from LLVM IR as the compiler of another language would hand it over: text that is
// put together while the program runs, with `a` in it as a constant.
// usage: saxpy [elements] [a]
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "../common.h"

#include <proteus/LLVMIRJitModule.h>

static const char* const kBegin = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define ptx_kernel void @saxpy(ptr %x, ptr %y, i32 %n) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %begin = mul i32 %block, %threads
  %i = add i32 %begin, %thread
  %is_inside = icmp slt i32 %i, %n
  br i1 %is_inside, label %inside, label %end

inside:
  %at_x = getelementptr inbounds float, ptr %x, i32 %i
  %at_y = getelementptr inbounds float, ptr %y, i32 %i
  %from_x = load float, ptr %at_x
  %from_y = load float, ptr %at_y
  %product = fmul float %from_x, )";
static const char* const kEnd = R"(
  %sum = fadd float %product, %from_y
  store float %sum, ptr %at_y
  br label %end

end:
  ret void
}
)";

/// A float as LLVM writes it: the bits of the double of the same value.
static std::string constant(float value) {
  const double wide = value;
  unsigned long long bits;
  std::memcpy(&bits, &wide, sizeof bits);
  char text[32];
  std::snprintf(text, sizeof text, "0x%016llX", bits);
  return text;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 100000;
  const float a = argc > 2 ? static_cast<float>(std::atof(argv[2])) : 2.5f;
  std::vector<float> x(n), y(n), expected(n);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 1000);
    y[i] = 0.5f * static_cast<float>(i % 77);
    expected[i] = a * x[i] + y[i];
  }

  const size_t bytes = n * sizeof(float);
  float *deviceX, *deviceY;
  check(cudaMalloc(&deviceX, bytes), "cudaMalloc x");
  check(cudaMalloc(&deviceY, bytes), "cudaMalloc y");
  check(cudaMemcpy(deviceX, x.data(), bytes, cudaMemcpyHostToDevice), "copy x");
  check(cudaMemcpy(deviceY, y.data(), bytes, cudaMemcpyHostToDevice), "copy y");

  proteus::LLVMIRJitModule module("cuda", kBegin + constant(a) + kEnd);
  auto saxpy = module.getKernel<void(float*, float*, int)>("saxpy");
  const int threads = 256;
  check(saxpy.launch((n + threads - 1) / threads, threads, 0, nullptr, deviceX, deviceY, n),
        "launch saxpy");
  check(cudaMemcpy(y.data(), deviceY, bytes, cudaMemcpyDeviceToHost), "copy y");

  bool isCorrect = true;
  for (int i = 0; i < n; ++i)
    isCorrect = isCorrect && std::fabs(y[i] - expected[i]) <= 1e-6f * std::fabs(expected[i]);
  std::printf("saxpy: n = %d, a = %g, y[n/2] = %g\n", n, a, y[n / 2]);
  cudaFree(deviceX);
  cudaFree(deviceY);
  return report(isCorrect);
}
