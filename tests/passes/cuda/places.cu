// REQUIRES: cuda
// Where the body of each kernel is, in a program without debug information, with it, and without both.
// RUN: %clang_cuda -O2 -Xclang -debug-info-kind=limited -c %s -o %t.lines.o
// RUN: mneme_blob_dump %t.lines.o | FileCheck %s
// RUN: %clang_cuda -O2 -gline-tables-only -c %s -o %t.g.o && mneme_blob_dump %t.g.o | FileCheck %s
// RUN: %clang_cuda -O0 -Xclang -debug-info-kind=limited -c %s -o %t.O0.o
// RUN: mneme_blob_dump %t.O0.o | FileCheck %s
// RUN: %clang_cuda -O2 -c %s -o %t.o && mneme_blob_dump %t.o | FileCheck --check-prefix=NONE %s
// NONE-NOT: "place":

// CHECK-DAG: "demangled":"plain(float*, int){{.*}}"place":{"end_line":[[# @LINE + 4]],"file":"{{.*}}places.cu","line":[[# @LINE + 1]]}
__global__ void plain(float* x, int n) {
  for (int i = 0; i < n; ++i)
    x[i] *= 2;
}

// A template that calls no object of its arguments is where it is written.
// CHECK-DAG: "demangled":"void scale<float>(float*){{.*}}"place":{"end_line":[[# @LINE + 1]],"file":"{{.*}}places.cu","line":[[# @LINE + 1]]}
template <class T> __global__ void scale(T* x) { x[threadIdx.x] *= 2; }

struct Square {
  __device__ float operator()(float x) const { return x * x; }
};
// So is a kernel that is not a template, whatever it calls.
// CHECK-DAG: "demangled":"squares(Square, float*){{.*}}"place":{"end_line":[[# @LINE + 1]],"file":"{{.*}}places.cu","line":[[# @LINE + 1]]}
__global__ void squares(Square square, float* x) { x[threadIdx.x] = square(x[threadIdx.x]); }

template <class F> __global__ void launch(int n, F f) {
  if (threadIdx.x < n)
    f(threadIdx.x);
}

struct Axpy {
  float a;
  float *x, *y;
  __device__ int first() const { return 0; }
  // CHECK-DAG: "demangled":"void launch<Axpy>(int, Axpy){{.*}}"place":{"end_line":[[# @LINE + 4]],"file":"{{.*}}places.cu","line":[[# @LINE + 2]]}
  // CHECK-DAG: "demangled":"void fw::driver_kernel<fw::ParallelFor<Axpy,{{.*}}"place":{"end_line":[[# @LINE + 3]],"file":"{{.*}}places.cu","line":[[# @LINE + 1]]}
  __device__ void operator()(int i) const {
    y[i] += a * x[i] + first();
  }
};

// As Kokkos launches: a driver by value, whose own operator() calls the functor in it.
namespace fw {
template <class Tag> struct Range {
  int begin, end;
};
template <class Functor, class Policy> struct ParallelFor {
  Functor functor;
  Policy policy;
  template <class T> __device__ void exec(int i) const { functor(i); }
  __device__ void operator()() const {
    for (int i = policy.begin; i < policy.end; ++i)
      exec<int>(i);
  }
};
template <class Driver> __global__ void driver_kernel(const Driver driver) { driver(); }
struct Tag {};
template <class F> void parallel_for(int n, const F& f) {
  using Driver = ParallelFor<F, Range<Tag>>;
  driver_kernel<Driver><<<1, 32>>>(Driver{f, {0, n}});
}

// As RAJA and AMReX do: the user's lambda is inside of another one.
template <class F, class... Args> __device__ void call(F const& f, Args... args) { f(args...); }
template <class Body> void forall(int n, Body body) {
  launch<<<1, 32>>>(n, [=] __device__(int i) { call(body, i, 1.0f); });
}
} // namespace fw

void run(float* x, float* y) {
  plain<<<1, 1>>>(x, 1);
  scale<<<1, 1>>>(x);
  squares<<<1, 1>>>(Square{}, x);
  launch<<<1, 32>>>(1, Axpy{2, x, y});
  // CHECK-DAG: "demangled":"void launch<run(float*, float*)::'lambda'(int)>{{.*}}"place":{"end_line":[[# @LINE + 3]],"file":"{{.*}}places.cu","line":[[# @LINE + 1]]}
  launch<<<1, 32>>>(1, [=] __device__(int i) {
    x[i] += 1;
  });
  // CHECK-DAG: "demangled":"void launch<run(float*, float*)::'lambda0'(int)>{{.*}}"place":{"end_line":[[# @LINE + 1]],"file":"{{.*}}places.cu","line":[[# @LINE + 1]]}
  launch<<<1, 32>>>(1, [=] __device__(int i) { x[i] += 2; });
  // CHECK-DAG: "demangled":"void fw::driver_kernel<fw::ParallelFor<run(float*, float*)::'lambda1'(int){{.*}}"place":{"end_line":[[# @LINE + 3]],"file":"{{.*}}places.cu","line":[[# @LINE + 1]]}
  fw::parallel_for(1, [=] __device__(int i) {
    x[i] -= 1;
  });
  fw::parallel_for(1, Axpy{2, x, y});
  // CHECK-DAG: "demangled":"void launch<void fw::forall<run(float*, float*)::'lambda'(int, float){{.*}}"place":{"end_line":[[# @LINE + 3]],"file":"{{.*}}places.cu","line":[[# @LINE + 1]]}
  fw::forall(1, [=] __device__(int i, float by) {
    y[i] *= by;
  });
  // CHECK-DAG: "demangled":"void launch<void fw::forall<run(float*, float*)::'lambda'(auto, float){{.*}}"place":{"end_line":[[# @LINE + 1]],"file":"{{.*}}places.cu","line":[[# @LINE + 1]]}
  fw::forall(1, [=] __device__(auto i, float by) { y[i] *= by; });
}
