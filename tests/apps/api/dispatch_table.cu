// Tables of device functions: in device, constant and allocated memory, in constants of the code,
// filled by one kernel and called by another, changed by the host.
#include "check.h"

using Operation = float (*)(float, float);

__device__ float add(float a, float b) { return a + b; }
__device__ float subtract(float a, float b) { return a - b; }
static __device__ float multiply(float a, float b) { return a * b; }
namespace {
__device__ float larger(float a, float b) { return a > b ? a : b; }
} // namespace
template <int N> __device__ float scaled(float a, float b) { return N * a + b; }

__device__ Operation operations[4] = {add, subtract, multiply, larger};
__constant__ Operation constants[3] = {scaled<2>, scaled<3>, multiply};
static __device__ Operation chosen = larger;
static __device__ const Operation fixed[2] = {subtract, scaled<5>};
__device__ int order[4] = {0, 1, 2, 3};

struct Step {
  Operation operation;
  float operand;
  int unused;
};

__global__ void callTables(float* out) {
  const int i = threadIdx.x;
  const Operation local[2] = {larger, add};
  out[i] = operations[order[i & 3]](i, 2.0f);
  out[i] = constants[i % 3](out[i], 1.0f);
  out[i] = fixed[i & 1](out[i], 4.0f);
  out[i] = local[(i >> 1) & 1](out[i], 7.0f);
  out[i] = chosen(out[i], 30.0f);
}

__global__ void fill(Step* steps, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    steps[i] = {i % 5 == 4 ? scaled<7> : operations[i % 5], static_cast<float>(i), 0x77};
}

__global__ void callSteps(const Step* steps, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = steps[i].operation(1.5f, steps[i].operand);
}

__global__ void rotate() {
  const Operation first = operations[0];
  for (int i = 0; i < 3; ++i)
    operations[i] = operations[i + 1];
  operations[3] = first;
  chosen = chosen == larger ? scaled<2> : larger;
}

static float onHost(int operation, float a, float b) {
  switch (operation) {
  case 0:
    return a + b;
  case 1:
    return a - b;
  case 2:
    return a * b;
  case 3:
    return a > b ? a : b;
  default:
    return 7 * a + b;
  }
}

static float expected(int i, int turn) {
  float value = onHost((i + turn) & 3, i, 2.0f);
  value = i % 3 == 2 ? value : (2 + i % 3) * value + 1.0f;
  value = i & 1 ? 5 * value + 4.0f : value - 4.0f;
  value = (i >> 1) & 1 ? value + 7.0f : (value > 7.0f ? value : 7.0f);
  return turn & 1 ? 2 * value + 30.0f : (value > 30.0f ? value : 30.0f);
}

int main() {
  constexpr int kCount = 48;
  Buffer<float> out(kCount);
  for (int turn = 0; turn < 3; ++turn) {
    callTables<<<1, kCount>>>(out.device());
    expectLaunched();
    out.download();
    for (int i = 0; i < kCount; ++i)
      check(out[i] == expected(i, turn), "called through tables of the code");
    rotate<<<1, 1>>>();
    expectLaunched();
  }
  rotate<<<1, 1>>>();
  Step* steps = nullptr;
  expect(cudaMalloc(&steps, kCount * sizeof(Step)));
  fill<<<2, 32>>>(steps, kCount);
  callSteps<<<2, 32>>>(steps, out.device(), kCount);
  expectLaunched();
  out.download();
  for (int i = 0; i < kCount; ++i)
    check(out[i] == onHost(i % 5, 1.5f, i), "called through allocated memory");
  const int reversed[4] = {3, 2, 1, 0};
  expect(cudaMemcpyToSymbol(order, reversed, sizeof reversed));
  callTables<<<1, kCount>>>(out.device());
  expectLaunched();
  out.download();
  check(out[0] == 30.0f && out[kCount - 1] > 30.0f, "the order the host gave");
  expect(cudaFree(steps));
  return finish("dispatch_table");
}
