// Device functions the host hands on: read from device variables, passed to kernels as arguments, in
// structures and in memory; pointers to members; functors and lambdas behind plain pointers.
#include "check.h"

using Unary = int (*)(int);
using Binary = int (*)(int, int);

__device__ int twice(int x) { return 2 * x; }
static __device__ int next(int x) { return x + 1; }
template <typename T> __device__ T square(T x) { return x * x; }
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }

__device__ Unary twicePointer = twice;
static __device__ Unary nextPointer = next;
__constant__ Unary squarePointer = square<int>;
__device__ Binary plusPointer = plus;
__device__ Binary minusPointer = minus;

struct Plan {
  char kind;
  Unary first;
  double unused;
  Binary second;
};

struct Counter {
  int base;
  __device__ int up(int by) { return base += by; }
  __device__ int down(int by) { return base -= by; }
};
using Member = int (Counter::*)(int);

struct Visitor {
  void* state;
  int (*visit)(void*, int);
};

__global__ void callOne(Unary function, int* out) { out[threadIdx.x] = function(threadIdx.x); }

__global__ void callPlan(Plan plan, int* out) {
  const int i = threadIdx.x;
  out[i] = plan.second(plan.first(i), plan.kind);
}

__global__ void callMany(const Unary* functions, int count, int* out) {
  int value = threadIdx.x;
  for (int i = 0; i < count; ++i)
    value = functions[i](value);
  out[threadIdx.x] = value;
}

__global__ void chooseMembers(Member* members) {
  members[0] = &Counter::up;
  members[1] = &Counter::down;
}

__global__ void callMembers(const Member* members, int* out) {
  Counter counter{10};
  out[0] = (counter.*members[0])(5);
  out[1] = (counter.*members[1])(7);
}

__global__ void makeVisitors(Visitor* visitors, int* sums) {
  visitors[0] = {&sums[0], [](void* state, int x) { return *static_cast<int*>(state) += x; }};
  visitors[1] = {&sums[1], [](void* state, int x) { return *static_cast<int*>(state) += x * x; }};
}

__global__ void visitAll(const Visitor* visitors, int count) {
  for (int i = 0; i < count; ++i)
    visitors[threadIdx.x].visit(visitors[threadIdx.x].state, i);
}

__global__ void same(Unary a, Unary b, int* out) {
  out[0] = a == b;
  out[1] = a == twice;
  out[2] = b == nullptr;
}

template <typename Function> static Function onDevice(const Function& symbol) {
  Function function = nullptr;
  expect(cudaMemcpyFromSymbol(&function, symbol, sizeof function));
  return function;
}

static void callArguments() {
  Buffer<int> out(8);
  const Unary functions[3] = {onDevice(twicePointer), onDevice(nextPointer),
                              onDevice(squarePointer)};
  const int expectedAt3[3] = {6, 4, 9};
  for (int i = 0; i < 3; ++i) {
    callOne<<<1, 8>>>(functions[i], out.device());
    expectLaunched();
    out.download();
    check(out[3] == expectedAt3[i], "a function as argument");
  }
  Plan plan{5, functions[2], 0.5, onDevice(minusPointer)};
  callPlan<<<1, 8>>>(plan, out.device());
  expectLaunched();
  out.download();
  check(out[7] == 44, "functions in a structure");
  plan.second = onDevice(plusPointer);
  callPlan<<<1, 8>>>(plan, out.device());
  expectLaunched();
  out.download();
  check(out[7] == 54, "another function in the structure");
  Unary* list = nullptr;
  expect(cudaMalloc(&list, sizeof functions));
  expect(cudaMemcpy(list, functions, sizeof functions, cudaMemcpyHostToDevice));
  callMany<<<1, 8>>>(list, 3, out.device());
  expectLaunched();
  out.download();
  check(out[4] == 81, "functions copied to the device");
  same<<<1, 1>>>(functions[0], functions[1], out.device());
  expectLaunched();
  out.download();
  check(out[0] == 0 && out[1] == 1 && out[2] == 0, "comparing functions");
  expect(cudaFree(list));
}

int main() {
  callArguments();
  Buffer<int> out(2);
  Member* members = nullptr;
  expect(cudaMalloc(&members, 2 * sizeof(Member)));
  chooseMembers<<<1, 1>>>(members);
  callMembers<<<1, 1>>>(members, out.device());
  expectLaunched();
  out.download();
  check(out[0] == 15 && out[1] == 8, "pointers to members");
  Visitor* visitors = nullptr;
  Buffer<int> sums(2);
  expect(cudaMalloc(&visitors, 2 * sizeof(Visitor)));
  makeVisitors<<<1, 1>>>(visitors, sums.device());
  visitAll<<<1, 2>>>(visitors, 5);
  expectLaunched();
  sums.download();
  check(sums[0] == 10 && sums[1] == 30, "lambdas behind pointers");
  expect(cudaFree(members));
  expect(cudaFree(visitors));
  return finish("function_arguments");
}
