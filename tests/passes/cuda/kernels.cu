// REQUIRES: cuda
// Every kernel of a real program is found in its object, at every level, and the host side knows it.
// RUN: %clang_cuda -O0 -c %s -o %t.O0.o && mneme_blob_dump %t.O0.o | FileCheck -DLEVEL=0 %s
// RUN: %clang_cuda -O1 -c %s -o %t.O1.o && mneme_blob_dump %t.O1.o | FileCheck -DLEVEL=1 %s
// RUN: %clang_cuda -O2 -fno-discard-value-names -c %s -o %t.O2.o && mneme_blob_dump %t.O2.o | FileCheck -DLEVEL=2 --check-prefixes=CHECK,NAMES %s
// RUN: %clang_cuda -O3 -c %s -o %t.O3.o && mneme_blob_dump %t.O3.o | FileCheck -DLEVEL=3 %s
// RUN: llvm-nm %t.O0.o | FileCheck --check-prefix=HOST %s
// RUN: llvm-nm %t.O3.o | FileCheck --check-prefix=HOST %s
// Debug information, -fPIC and the names of values change no static hash; nor does -g's compression hide
// the kernels.
// RUN: %clang_cuda -O1 -g -fPIC -fno-discard-value-names -c %s -o %t.g.o
// RUN: mneme_blob_dump %t.O1.o | grep -o '"static_hash":"[0-9a-f]*"' > %t.O1.hashes
// RUN: mneme_blob_dump %t.g.o | grep -o '"static_hash":"[0-9a-f]*"' | diff %t.O1.hashes -
// RUN: %clang_cuda -O0 -g -c %s -o %t.g0.o && mneme_blob_dump %t.g0.o | FileCheck -DLEVEL=0 %s
// PTX alone is enough.
// RUN: %clang_cuda -O1 --cuda-device-only -S %s -o %t.ptx && mneme_blob_dump %t.ptx | FileCheck -DLEVEL=1 %s
// The options of the compiler command line that select kernels; clang 19 knows them with -fplugin only.
// RUN: %clang_cuda -O1 -fplugin=%plugin -mllvm -mneme-kernels=reset -c %s -o %t.one.o
// RUN: mneme_blob_dump %t.one.o | FileCheck --check-prefix=ONE %s

#include <cooperative_groups.h>

__device__ int visible[4];
static __device__ int hidden;
__constant__ float coefficients[2] = {1.0f, 2.0f};
struct Pair {
  double first;
  int second;
};

// ONE: "demangled":"reset(int*)"
// ONE-NOT: "demangled":"{{[^"]+}}"

// CHECK-DAG: "demangled":"reset(int*)"{{.*}}"max_threads":64,"min_blocks":2{{.*}}"opt_level":"[[LEVEL]]"
__global__ void __launch_bounds__(64, 2) reset(int* out) { out[threadIdx.x] = hidden++; }

// CHECK-DAG: "demangled":"named"{{.*}}"name":"visible","size":16
extern "C" __global__ void named(int* out) { out[0] = visible[1]; }

namespace {
// CHECK-DAG: "demangled":"void (anonymous namespace)::scale<float>(float*, Pair)"
// CHECK-DAG: "demangled":"void (anonymous namespace)::scale<double>(double*, Pair)"
// NAMES-DAG: {"align":8,"fields":[{{.*}}],"kind":"aggregate","name":"pair","size":16,"specializable":false,"type":"struct.Pair"}
template <typename T> __global__ void scale(T* out, Pair pair) {
  __shared__ T tile[32];
  tile[threadIdx.x] = sinf(out[threadIdx.x]) * coefficients[pair.second];
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x] * pair.first;
}
} // namespace

// CHECK-DAG: "demangled":"together(int*)"
__global__ void together(int* out) {
  cooperative_groups::this_grid().sync();
  out[0] = 1;
}

// HOST-DAG: t __mneme_launch_cudaLaunchCooperativeKernel
// HOST-DAG: t __mneme_launch_cudaLaunchKernel
// HOST-DAG: t __mneme_launch_cudaLaunchKernelExC
// HOST-DAG: U mneme_launch_kernel
// HOST-DAG: U mneme_rt_register_module
int main() {
  int* out = nullptr;
  reset<<<1, 64>>>(out);
  named<<<1, 1>>>(out);
  scale<<<1, 32>>>(reinterpret_cast<float*>(out), Pair{1.0, 1});
  scale<<<1, 32>>>(reinterpret_cast<double*>(out), Pair{1.0, 1});
  void* args[] = {&out};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(together), dim3(1), dim3(1), args, 0, nullptr);
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  return cudaLaunchKernelEx(&config, named, out);
}
