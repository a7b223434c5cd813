// AMD's ABI passes pointers of kernels as pointers to global memory, and local variables lie in an
// address space of their own.
#include <cstdio>
#include <hip/hip_runtime.h>
#include <proteus/JitInterface.h>
struct Pair { int a, b; };
__global__ void scalar(const int* v, int* out) { proteus::jit_arg(v); *out = *v; }
__global__ void array(const int* v, int n, int* out) {
  proteus::jit_array(v, n);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += v[i];
  *out = sum;
}
__global__ void object(Pair* p, int* out) { proteus::jit_object(p); *out = p->a * p->b; }
__global__ void reference(Pair& p, int* out) { proteus::jit_object(p); *out = p.a - p.b; }
__global__ void vector(float4 v, int* out) {
  proteus::jit_object(v);
  if (blockIdx.x + threadIdx.x == 0) *out = static_cast<int>(v.x + v.w) + 1000 * gridDim.x + 1000000 * blockDim.x;
}
__global__ void shared(int n, int* out) {
  proteus::jit_arg(n);
  int* cells = proteus::shared_array<int, 32>(n);
  cells[threadIdx.x] = threadIdx.x;
  __syncthreads();
  *out = cells[n - 1];
}
template <typename F> __attribute__((annotate("jit"))) __global__ void apply(F f) { f(); }
int main() {
  int *v, *out;
  Pair* p;
  (void)hipMallocManaged(&v, 3 * sizeof(int));
  (void)hipMallocManaged(&out, sizeof(int));
  (void)hipMallocManaged(&p, sizeof(Pair));
  v[0] = 4, v[1] = 5, v[2] = 6, *p = {7, 3};
  const auto show = [&](const char* name) { (void)hipDeviceSynchronize(); printf("%s %d\n", name, *out); };
  scalar<<<1, 1>>>(v, out); show("scalar");
  array<<<1, 1>>>(v, 3, out); show("array");
  object<<<1, 1>>>(p, out); show("object");
  reference<<<1, 1>>>(*p, out); show("reference");
  vector<<<2, 16>>>(float4{1, 2, 3, 4}, out);
  (void)hipDeviceSynchronize();
  printf("vector %d %d\n", *out % 1000, *out / 1000);
  shared<<<1, 8>>>(8, out); show("shared");
  double scale = 2.5;
  int shift = 4;
  apply<<<1, 1>>>(proteus::register_lambda(
      [=, scale = proteus::jit_variable(scale), shift = proteus::jit_variable(shift)] __device__() {
        *out = static_cast<int>(scale * shift);
      }));
  show("lambda");
  const auto make = [out](int by) {
    return proteus::register_lambda(
        [by = proteus::jit_variable(by), out] __device__() { *out += by; });
  };
  const auto add2 = make(2), add3 = make(3);
  apply<<<1, 1>>>(add2); show("lambda");
  apply<<<1, 1>>>(add3); show("lambda");
}
