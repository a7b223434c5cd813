// Kernels of a vendor library between our own: cuBLAS, where one is installed. The library's memory
// and kernels are its own affair; ours are recorded.
#include <dlfcn.h>

#include "common.h"

namespace {

using Handle = void*;

/// The few functions that are needed, by their signatures in cuBLAS's documentation.
struct Blas {
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*setStream)(Handle, cudaStream_t);
  int (*multiply)(Handle, int, int, int, int, int, const float*, const float*, int, const float*,
                  int, const float*, float*, int);
};

template <typename Function> bool bind(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool open(Blas& blas) {
  for (const char* name : {"libcublas.so.13", "libcublas.so.12"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      return bind(library, blas.create, "cublasCreate_v2") &&
             bind(library, blas.destroy, "cublasDestroy_v2") &&
             bind(library, blas.setStream, "cublasSetStream_v2") &&
             bind(library, blas.multiply, "cublasSgemm_v2");
  return false;
}

} // namespace

__global__ void fillMatrix(float* matrix, int size, int seed) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size * size; i += gridDim.x * blockDim.x)
    matrix[i] = static_cast<float>((i * 7 + seed) % 5 - 2); // products are exact
}

__global__ void sumRows(const float* matrix, float* sums, int size) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; row < size && i < size; ++i)
    sum += matrix[i * size + row];
  if (row < size)
    sums[row] = sum;
}

int main() {
  Blas blas;
  Handle handle = nullptr;
  if (!open(blas) || blas.create(&handle) != 0) {
    std::printf("no cuBLAS here\n");
    return 0;
  }
  constexpr int size = 256;
  float *a = nullptr, *b = nullptr, *c = nullptr, *sums = nullptr;
  for (float** matrix : {&a, &b, &c})
    expect(cudaMalloc(matrix, size * size * sizeof(float)));
  expect(cudaMalloc(&sums, size * sizeof(float)));
  cudaStream_t stream;
  expect(cudaStreamCreate(&stream));
  check(blas.setStream(handle, stream) == 0, "cuBLAS takes the stream");
  fillMatrix<<<32, 128, 0, stream>>>(a, size, 1);
  fillMatrix<<<32, 128, 0, stream>>>(b, size, 3);
  const float one = 1, zero = 0;
  check(blas.multiply(handle, 0, 0, size, size, size, &one, a, size, b, size, &zero, c, size) == 0,
        "cuBLAS multiplies");
  sumRows<<<2, 128, 0, stream>>>(c, sums, size);
  std::vector<float> host(size);
  expect(cudaMemcpyAsync(host.data(), sums, size * sizeof(float), cudaMemcpyDeviceToHost, stream));
  expect(cudaStreamSynchronize(stream));
  double total = 0;
  for (const float sum : host)
    total += sum;
  std::printf("sum of the product: %.1f\n", total);
  check(blas.destroy(handle) == 0, "cuBLAS ends");
  for (float* memory : {a, b, c, sums})
    expect(cudaFree(memory));
  return finish("library");
}
