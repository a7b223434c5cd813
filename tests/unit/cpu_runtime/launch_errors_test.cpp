#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

namespace {

void notAKernel() {}

} // namespace

TEST_CASE("what nobody registered is no kernel and no symbol") {
  static int variable = 0;
  void* address = nullptr;
  cudaFuncAttributes attributes{};
  const void* function = reinterpret_cast<const void*>(&notAKernel);
  CHECK(cudaLaunchKernel(function, dim3{1, 1, 1}, dim3{1, 1, 1}, nullptr, 0, nullptr) ==
        cudaErrorInvalidDeviceFunction);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDeviceFunction);
  CHECK(cudaFuncGetAttributes(&attributes, function) == cudaErrorInvalidDeviceFunction);
  CHECK(cudaGetSymbolAddress(&address, &variable) == cudaErrorInvalidSymbol);
  CHECK(cudaMemcpyToSymbol(&variable, &variable, 4, 0, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidSymbol);
  CHECK(cudaGetLastError() == cudaErrorInvalidSymbol);
}
