// The kernels of examples/, each twice: with all its arguments in one functor, and with separate arguments. The
// functors stand by themselves, in a policy as Kokkos has it, or beside a length as RAJA has it.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include "common.h"

namespace {

struct VectorAdd {
  const float *a, *b;
  float* c;
  float alpha;
  int n;
  __device__ void operator()(long i) const {
    if (i < n)
      c[i] = alpha * a[i] + b[i];
  }
};

struct Diffuse2 {
  const float* in;
  float* out;
  int width, height;
  float kappa;
  __device__ float at(int x, int y) const {
    return in[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)];
  }
  __device__ void operator()(long i) const {
    const int x = int(i) % width, y = int(i) / width;
    if (y < height)
      out[i] = at(x, y) + kappa * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1) - 4 * at(x, y));
  }
};

struct Diffuse3 {
  const double* in;
  double* out;
  int extents[3];
  double kappa;
  __device__ void operator()(long i) const {
    const long row = extents[0], plane = row * extents[1];
    const int x = int(i % row), y = int(i / row % extents[1]), z = int(i / plane);
    if (z >= extents[2])
      return;
    const double centre = in[i];
    const double west = x > 0 ? in[i - 1] : centre, east = x < extents[0] - 1 ? in[i + 1] : centre;
    const double south = y > 0 ? in[i - row] : centre, north = y < extents[1] - 1 ? in[i + row] : centre;
    const double below = z > 0 ? in[i - plane] : centre, above = z < extents[2] - 1 ? in[i + plane] : centre;
    out[i] = centre + kappa * (west + east + south + north + below + above - 6 * centre);
  }
};

struct Step {
  int bodies;
  float dt, softening;
};

struct Integrate {
  const float4* position;
  float4 *moved, *velocity;
  Step step;
  __device__ void operator()(long i) const {
    if (i >= step.bodies)
      return;
    const float4 self = position[i];
    float4 v = velocity[i];
    for (int j = 0; j < step.bodies; ++j) {
      const float4 other = position[j];
      const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + step.softening);
      const float scale = other.w * inverse * inverse * inverse * step.dt;
      v = {v.x + scale * dx, v.y + scale * dy, v.z + scale * dz, v.w};
    }
    velocity[i] = v;
    moved[i] = {self.x + v.x * step.dt, self.y + v.y * step.dt, self.z + v.z * step.dt, self.w};
  }
};

struct Spmv {
  const int *rowStart, *column;
  const double *value, *x;
  double* y;
  int rows;
  __device__ void operator()(long row) const {
    if (row >= rows)
      return;
    double sum = 0;
    for (int k = rowStart[row]; k < rowStart[row + 1]; ++k)
      sum += value[k] * x[column[k]];
    y[row] = sum;
  }
};

struct Axpby {
  double a, b;
  const double* x;
  double* y;
  int n;
  __device__ void operator()(long i) const {
    if (i < n)
      y[i] = a * x[i] + b * y[i];
  }
};

/// As Kokkos launches: a policy of five words behind the functor.
template <typename Functor> struct ParallelFor {
  Functor functor;
  struct Policy {
    void* space;
    long begin, end;
    int chunk, granularity;
  } policy;
  __device__ void operator()() const {
    const long i = policy.begin + long(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < policy.end)
      functor(i);
  }
};

__device__ long globalIndex() { return long(blockIdx.x) * blockDim.x + threadIdx.x; }

template <typename Functor> __global__ void launch(Functor functor) { functor(globalIndex()); }
template <typename Driver> __global__ void launchDriver(Driver driver) { driver(); }
/// As RAJA launches.
template <typename Body> __global__ void forall(Body body, long begin, long length) {
  if (globalIndex() < length)
    body(begin + globalIndex());
}

__global__ void vectorAddApart(const float* a, const float* b, float* c, float alpha, int n) {
  VectorAdd{a, b, c, alpha, n}(globalIndex());
}
__global__ void diffuse2Apart(const float* in, float* out, int width, int height, float kappa) {
  Diffuse2{in, out, width, height, kappa}(globalIndex());
}
__global__ void diffuse3Apart(const double* in, double* out, int width, int height, int depth, double kappa, long begin,
                              long end) {
  const long i = begin + globalIndex();
  if (i < end)
    Diffuse3{in, out, {width, height, depth}, kappa}(i);
}
__global__ void integrateApart(const float4* position, float4* moved, float4* velocity, int bodies, float dt,
                               float softening) {
  Integrate{position, moved, velocity, {bodies, dt, softening}}(globalIndex());
}
__global__ void spmvApart(const int* rowStart, const int* column, const double* value, const double* x, double* y,
                          int rows, long begin, long end) {
  const long i = begin + globalIndex();
  if (i < end)
    Spmv{rowStart, column, value, x, y, rows}(i);
}
__global__ void axpbyApart(double a, double b, const double* x, double* y, int n, long begin, long length) {
  if (globalIndex() < length)
    Axpby{a, b, x, y, n}(begin + globalIndex());
}

template <typename T> T* filled(long count, int most) {
  std::vector<T> host(count);
  for (long i = 0; i < count; ++i)
    host[i] = T(i % most) / T(most - 1);
  T* device = nullptr;
  check(cudaMalloc(&device, count * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return device;
}

int* indices(long count, int factor, int modulus) {
  std::vector<int> host(count);
  for (long i = 0; i < count; ++i)
    host[i] = modulus ? int(i * factor % modulus) : int(i * factor);
  int* device = nullptr;
  check(cudaMalloc(&device, count * sizeof(int)), "cudaMalloc");
  check(cudaMemcpy(device, host.data(), count * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
  return device;
}

/// Prints whether both forms left the same in `out`; `before` is put there before each.
template <typename T, typename First, typename Second>
void both(const char* name, T* out, long count, First packed, Second apart) {
  std::vector<T> before(count), first(count), second(count);
  const size_t bytes = count * sizeof(T);
  check(cudaMemcpy(before.data(), out, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  packed();
  check(cudaMemcpy(first.data(), out, bytes, cudaMemcpyDeviceToHost), name);
  check(cudaMemcpy(out, before.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  apart();
  check(cudaMemcpy(second.data(), out, bytes, cudaMemcpyDeviceToHost), name);
  std::printf("%s %s\n", name, first == second ? "same" : "DIFFERENT");
}

} // namespace

int main(int argc, char** argv) {
  const int edge = argc > 1 ? std::atoi(argv[1]) : 512;
  const int bodies = edge * 4, depth = edge / 8;
  const int n = edge * edge;
  const int threads = 256;
  const auto blocks = [](long count) { return unsigned((count + threads - 1) / threads); };
  const float alpha = argc > 2 ? std::atof(argv[2]) : 2.0f;
  const double kappa = alpha / 20;

  float *a = filled<float>(n, 1000), *b = filled<float>(n, 77), *c = filled<float>(n, 3);
  both("vector_add", c, n, [&] { launch<<<blocks(n), threads>>>(VectorAdd{a, b, c, alpha, n}); },
       [&] { vectorAddApart<<<blocks(n), threads>>>(a, b, c, alpha, n); });
  both("stencil2d", c, n, [&] { launch<<<blocks(n), threads>>>(Diffuse2{a, c, edge, edge, alpha / 16}); },
       [&] { diffuse2Apart<<<blocks(n), threads>>>(a, c, edge, edge, alpha / 16); });

  const long cells = long(n) * depth;
  double *in = filled<double>(cells, 17), *out = filled<double>(cells, 5);
  both(
      "heat3d", out, cells,
      [&] {
        launchDriver<<<blocks(cells), threads>>>(
            ParallelFor<Diffuse3>{{in, out, {edge, edge, depth}, kappa}, {std::malloc(8), 0, cells, 1, 1}});
      },
      [&] { diffuse3Apart<<<blocks(cells), threads>>>(in, out, edge, edge, depth, kappa, 0, cells); });

  float* points = filled<float>(bodies * 4, 1013);
  float *moved = filled<float>(bodies * 4, 2), *velocity = filled<float>(bodies * 4, 7);
  auto* const at = reinterpret_cast<float4*>(points);
  auto* const to = reinterpret_cast<float4*>(moved);
  auto* const speed = reinterpret_cast<float4*>(velocity);
  const Step step{bodies, 0.01f, 0.1f};
  both("nbody", velocity, bodies * 4,
       [&] { launch<<<blocks(bodies), threads>>>(Integrate{at, to, speed, step}); },
       [&] { integrateApart<<<blocks(bodies), threads>>>(at, to, speed, bodies, step.dt, step.softening); });

  const int entries = 5;
  int *rowStart = indices(n + 1, entries, 0), *column = indices(long(n) * entries, 7, n);
  double *value = filled<double>(long(n) * entries, 11), *x = filled<double>(n, 13), *y = filled<double>(n, 19);
  both(
      "spmv", y, n,
      [&] {
        launchDriver<<<blocks(n), threads>>>(
            ParallelFor<Spmv>{{rowStart, column, value, x, y, n}, {std::malloc(8), 0, n, 1, 1}});
      },
      [&] { spmvApart<<<blocks(n), threads>>>(rowStart, column, value, x, y, n, 0, n); });
  both("axpby", y, n, [&] { forall<<<blocks(n), threads>>>(Axpby{kappa, 1 - kappa, x, y, n}, 0, n); },
       [&] { axpbyApart<<<blocks(n), threads>>>(kappa, 1 - kappa, x, y, n, 0, n); });
}
