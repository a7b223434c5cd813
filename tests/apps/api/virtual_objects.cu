// Objects with virtual functions: made by one kernel, called by others; abstract classes, virtual
// bases, templates, several parents, in memory of the host's and of the device's.
#include "check.h"

#include <new>

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual float scale(float by) { return factor *= by; }
  __device__ virtual ~Shape() {}
  float factor = 1.0f;
};
struct Square : Shape {
  __device__ explicit Square(float side) : side(side) {}
  __device__ float area() const override { return factor * side * side; }
  float side;
};
struct Box final : Square {
  __device__ Box(float side, float height) : Square(side), height(height) {}
  __device__ float area() const override { return 2 * Square::area() + 4 * side * height; }
  __device__ float scale(float by) override { return Square::scale(by) + height; }
  float height;
};
template <int Corners> struct Polygon : Shape {
  __device__ float area() const override { return Corners * factor; }
};

struct Named {
  __device__ virtual int name() const { return 1; }
  int id = 5;
};
struct Left : virtual Named {
  __device__ int name() const override { return 10 + id; }
  int left = 3;
};
struct Right : virtual Named {
  int right = 4;
};
struct Both : Left, Right {
  __device__ int name() const override { return 100 + left + right + id; }
};

namespace {
struct Hidden : Polygon<3> {
  __device__ float area() const override { return -Polygon<3>::area(); }
};
} // namespace

union Room {
  __device__ Room() {}
  Square square;
  Box box;
  Hidden hidden;
  Polygon<6> hexagon;
};

__device__ Shape* onDevice[4];

__global__ void make(Room* rooms, Shape** shapes, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  if (i % 4 == 0)
    shapes[i] = new (&rooms[i]) Square(i);
  else if (i % 4 == 1)
    shapes[i] = new (&rooms[i]) Box(i, 2.0f);
  else if (i % 4 == 2)
    shapes[i] = new (&rooms[i]) Hidden;
  else
    shapes[i] = new (&rooms[i]) Polygon<6>;
  if (i < 4)
    onDevice[i] = shapes[i];
}

__global__ void measure(Shape* const* shapes, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = shapes[i]->area();
}

__global__ void scaleAll(Shape** shapes, float* out, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    out[i] = shapes[i]->scale(2.0f) + (i < 4 ? onDevice[i]->area() : 0.0f);
}

__global__ void makeOnHeap(Shape** shapes) {
  shapes[0] = new Box(1.0f, 2.0f);
  shapes[1] = new Polygon<9>;
}

__global__ void destroy(Shape** shapes) {
  delete shapes[0];
  delete shapes[1];
}

__global__ void makeNamed(Both* both, Named** named) {
  named[0] = new (both) Both;
  named[1] = static_cast<Right*>(both);
}

__global__ void nameAll(Named** named, int* out) { out[threadIdx.x] = named[threadIdx.x]->name(); }

static float area(int i, float factor) {
  switch (i % 4) {
  case 0:
    return factor * i * i;
  case 1:
    return 2 * factor * i * i + 8 * i;
  case 2:
    return -3 * factor;
  default:
    return 6 * factor;
  }
}

static void callHeapObjects() {
  Shape** shapes = nullptr;
  Buffer<float> out(2);
  expect(cudaMalloc(&shapes, 2 * sizeof(Shape*)));
  makeOnHeap<<<1, 1>>>(shapes);
  measure<<<1, 2>>>(shapes, out.device(), 2);
  destroy<<<1, 1>>>(shapes);
  expectLaunched();
  out.download();
  check(out[0] == 10.0f && out[1] == 9.0f, "objects on the device's heap");
  expect(cudaFree(shapes));
}

static void callVirtualBases() {
  Both* both = nullptr;
  Named** named = nullptr;
  Buffer<int> names(2);
  expect(cudaMalloc(&both, sizeof(Both)));
  expect(cudaMalloc(&named, 2 * sizeof(Named*)));
  makeNamed<<<1, 1>>>(both, named);
  nameAll<<<1, 2>>>(named, names.device());
  expectLaunched();
  names.download();
  check(names[0] == 112 && names[1] == 112, "a virtual base");
  expect(cudaFree(both));
  expect(cudaFree(named));
}

int main() {
  constexpr int kCount = 40;
  Room* rooms = nullptr;
  Shape** shapes = nullptr;
  Buffer<float> out(kCount);
  expect(cudaMalloc(&rooms, kCount * sizeof(Room)));
  expect(cudaMalloc(&shapes, kCount * sizeof(Shape*)));
  make<<<2, 32>>>(rooms, shapes, kCount);
  measure<<<2, 32>>>(shapes, out.device(), kCount);
  expectLaunched();
  out.download();
  for (int i = 0; i < kCount; ++i)
    check(out[i] == area(i, 1.0f), "areas");
  scaleAll<<<1, 16>>>(shapes, out.device(), kCount);
  expectLaunched();
  out.download();
  for (int i = 0; i < kCount; ++i)
    check(out[i] == 2.0f + (i % 4 == 1 ? 2.0f : 0.0f) + (i < 4 ? area(i, 2.0f) : 0.0f), "scaled");
  measure<<<2, 32>>>(shapes, out.device(), kCount);
  expectLaunched();
  out.download();
  for (int i = 0; i < kCount; ++i)
    check(out[i] == area(i, 2.0f), "areas of what was scaled");
  callHeapObjects();
  callVirtualBases();
  expect(cudaFree(rooms));
  expect(cudaFree(shapes));
  return finish("virtual_objects");
}
