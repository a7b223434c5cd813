// Functions behind pointers: a table, virtual functions of objects another kernel made, arguments.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <new>

using Unary = int (*)(int);

__device__ int twice(int x) { return 2 * x; }
static __device__ int next(int x) { return x + 1; }
__device__ Unary table[2] = {twice, next};
__device__ Unary nextPointer = next;

struct Shape {
  __device__ virtual int corners() const = 0;
  __device__ virtual int weight(int by) const { return by; }
};
struct Square : Shape {
  __device__ int corners() const override { return 4; }
};
template <int N> struct Polygon : Shape {
  __device__ int corners() const override { return N; }
  __device__ int weight(int by) const override { return N * by; }
};

__global__ void make(Shape** shapes, Square* square, Polygon<7>* polygon) {
  shapes[0] = new (square) Square;
  shapes[1] = new (polygon) Polygon<7>;
}

__global__ void call(Shape* const* shapes, Unary given, int* out) {
  const Shape* shape = shapes[threadIdx.x & 1];
  out[threadIdx.x] = 1000 * shape->corners() + 10 * shape->weight(3) +
                     table[threadIdx.x & 1](threadIdx.x) + given(0);
}

__global__ void swap() {
  const Unary first = table[0];
  table[0] = table[1];
  table[1] = first;
}

int main() {
  Shape** shapes = nullptr;
  Square* square = nullptr;
  Polygon<7>* polygon = nullptr;
  int *device = nullptr, host[4] = {};
  Unary given = nullptr;
  if (hipMalloc(&shapes, 2 * sizeof(Shape*)) != hipSuccess ||
      hipMalloc(&square, sizeof(Square)) != hipSuccess ||
      hipMalloc(&polygon, sizeof(Polygon<7>)) != hipSuccess ||
      hipMalloc(&device, sizeof(host)) != hipSuccess ||
      hipMemcpyFromSymbol(&given, HIP_SYMBOL(nextPointer), sizeof(given)) != hipSuccess)
    return 1;
  make<<<1, 1>>>(shapes, square, polygon);
  swap<<<1, 1>>>();
  call<<<1, 4>>>(shapes, given, device);
  if (hipMemcpy(host, device, sizeof(host), hipMemcpyDeviceToHost) != hipSuccess)
    return 2;
  std::printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
}
