// Local arrays, recursion, function pointers, virtual functions, big frames.
#include <new>

#include "check.h"

__global__ void sortLocally(const int* input, int* output, int count) {
  int local[64];
  const int start = (blockIdx.x * blockDim.x + threadIdx.x) * count;
  for (int i = 0; i < count; ++i) {
    int position = i;
    const int value = input[start + i];
    for (; position > 0 && local[position - 1] > value; --position)
      local[position] = local[position - 1];
    local[position] = value;
  }
  __syncthreads();
  for (int i = 0; i < count; ++i)
    output[start + i] = local[i];
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void recurse(int* output) { output[threadIdx.x] = fibonacci(threadIdx.x); }

__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int laneOf(int, int) { return threadIdx.x % 32; }
using Operation = int (*)(int, int);
__device__ Operation operations[3] = {plus, times, laneOf};

__global__ void call(int* output) {
  const Operation operation = operations[threadIdx.x % 3];
  output[threadIdx.x] = operation(threadIdx.x, 3);
}

__device__ __noinline__ int through(Operation operation, int value) {
  __syncthreads();
  return operation(value, value);
}

__global__ void callWithBarrier(int* output) {
  output[threadIdx.x] = through(blockIdx.x ? plus : times, threadIdx.x);
}

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Box : Shape {
  float width, height;
  __device__ Box(float w, float h) : width(w), height(h) {}
  __device__ float area() const override { return width * height; }
};

__global__ void areas(float* output) {
  const Square square(threadIdx.x);
  const Box box(threadIdx.x, 2);
  const Shape* shape = threadIdx.x % 2 ? static_cast<const Shape*>(&square) : &box;
  output[threadIdx.x] = shape->area();
}

int main() {
  constexpr int threads = 64, count = 40;
  Buffer<int> input(threads * count), output(threads * count);
  for (int i = 0; i < threads * count; ++i)
    input[i] = (i * 7919 + 13) % 1009;
  input.upload();
  sortLocally<<<2, threads / 2>>>(input.device(), output.device(), count);
  expectLaunched();
  output.download();
  for (int t = 0; t < threads; ++t) {
    int sum = 0;
    for (int i = 0; i < count; ++i) {
      check(i == 0 || output[t * count + i - 1] <= output[t * count + i], "sorted");
      sum += input[t * count + i] - output[t * count + i];
    }
    check(sum == 0, "same numbers");
  }
  recurse<<<1, 15>>>(output.device());
  expectLaunched();
  output.download();
  check(output[14] == 377 && output[1] == 1, "recursion");
  call<<<1, 64>>>(output.device());
  expectLaunched();
  output.download();
  for (int t = 0; t < 64; ++t)
    check(output[t] == (t % 3 == 0 ? t + 3 : t % 3 == 1 ? t * 3 : t % 32), "function pointer");
  callWithBarrier<<<1, 64>>>(output.device());
  expectLaunched();
  output.download();
  for (int t = 0; t < 64; ++t)
    check(output[t] == t * t, "function pointer behind a barrier");
  Buffer<float> results(32);
  areas<<<1, 32>>>(results.device());
  expectLaunched();
  results.download();
  for (int t = 0; t < 32; ++t)
    check(results[t] == (t % 2 ? t * t : t * 2), "virtual function");
  return finish("local_memory");
}
