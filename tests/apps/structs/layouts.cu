// Structures of unusual layouts as arguments. Each round fills what no kernel reads with other bytes:
// padding, unused members, the other part of a union, and pointers that move.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

struct Choice {
  union {
    int whole;
    float part;
  };
  int which;
};
__global__ void unions(Choice c, double* out) { *out += c.which == 0 ? c.whole : c.part; }

struct Bits {
  unsigned a : 3, b : 29;
  char unused;
  bool flag;
};
__global__ void bits(Bits s, double* out) { *out += s.a + 2.0 * s.b + s.flag; }

struct Axis {
  int count; // and 4 bytes of padding
  double step;
};
struct Mesh {
  Axis axes[3];
  double* data;
  Axis corners[2][2];
};
__global__ void arrays(Mesh m, double* out) {
  *out += m.axes[1].count * m.axes[2].step + m.corners[1][0].count;
  m.data[1] = m.corners[0][1].step;
}
__global__ void chosen(Mesh m, int which, double* out) {
  *out += m.axes[(which + threadIdx.x) % 3].step;
}
__device__ __noinline__ double sum(const Axis* axes) { return axes[0].step + axes[2].count; }
__global__ void escaping(const __grid_constant__ Mesh m, double* out) { *out += sum(m.axes); }

struct Empty {};
struct Tag {};
struct Derived : Empty, Tag {
  char order;
  double weight;
  short unused;
};
__global__ void bases(Derived d, Empty, double* out) { *out += d.weight * d.order; }

struct Rows {
  double** rows;
  int count;
  char unused[12];
};
__global__ void pointers(Rows r, double* out) {
  for (int i = 0; i < r.count; ++i)
    *out += r.rows[i][0];
}

struct Large {
  double weight;
  int table[1100], count;
};
__global__ void large(Large l, double* out) { *out += l.table[1000] * l.weight + l.count; }

__global__ void tables(Large l, int at, double* out) {
  *out += l.table[at + threadIdx.x] * l.weight + l.count;
}

struct Raw {
  char bytes[48];
};
__global__ void raw(Raw r, double* out) {
  double value;
  memcpy(&value, r.bytes + 8, sizeof(value));
  *out += value;
}

template <class F> struct Policy {
  long begin, end;
  char unused[40];
  F body;
};
template <class F> __global__ void loop(Policy<F> p) {
  if (p.begin + threadIdx.x < p.end)
    p.body(threadIdx.x);
}

template <class T> static T dirty(int round) {
  T value;
  memset(static_cast<void*>(&value), 17 * round + 1, sizeof(value));
  return value;
}

static void launch(int round, double* out, double* other, double** rows) {
  auto choice = dirty<Choice>(round);
  choice.which = 1, choice.part = 2.5f;
  unions<<<1, 1>>>(choice, out);
  auto flags = dirty<Bits>(round);
  flags.a = 5, flags.b = 77, flags.flag = true;
  bits<<<1, 1>>>(flags, out);
  auto mesh = dirty<Mesh>(round);
  for (int i = 0; i < 4; ++i) {
    Axis& axis = i < 3 ? mesh.axes[i] : mesh.corners[1][1];
    axis.count = 4 + i, axis.step = 0.5 * i;
  }
  mesh.corners[1][0].count = 3, mesh.corners[0][1].step = 9;
  mesh.data = round & 1 ? out : other;
  arrays<<<1, 1>>>(mesh, out);
  chosen<<<1, 1>>>(mesh, 1, out);
  mesh.data = out;
  for (Axis& axis : mesh.corners[0])
    axis.count = 0, axis.step = 0;
  mesh.corners[1][0].step = 0;
  escaping<<<1, 1>>>(mesh, out);
  auto derived = dirty<Derived>(round);
  derived.order = 3, derived.weight = 1.5;
  bases<<<1, 1>>>(derived, Empty(), out);
  auto list = dirty<Rows>(round);
  list.rows = rows + round, list.count = 2;
  pointers<<<1, 1>>>(list, out);
  auto big = dirty<Large>(round);
  big.weight = 0.5, big.table[1000] = 6, big.count = 2;
  large<<<1, 1>>>(big, out);
  memset(big.table, 0, sizeof(big.table));
  tables<<<1, 1>>>(big, 7, out);
  auto bytes = dirty<Raw>(round);
  const double value = 2.25;
  memcpy(bytes.bytes + 8, &value, sizeof(value));
  raw<<<1, 1>>>(bytes, out);
  int count = 3;
  float scale = 2;
  auto inner = [=] __device__(int i) { out[i] += count; };
  auto outer = [=] __device__(int i) { inner(i), out[i] *= scale; };
  auto policy = Policy<decltype(outer)>{0, 1, {}, outer};
  memset(policy.unused, round, sizeof(policy.unused));
  loop<<<1, 1>>>(policy);
  cudaMemset(out, 0, 4 * sizeof(double));
}

int main() {
  double *out, *other, **rows;
  cudaMalloc(&out, 4 * sizeof(double));
  cudaMalloc(&other, 4 * sizeof(double));
  cudaMalloc(&rows, 8 * sizeof(double*));
  cudaMemset(out, 0, 4 * sizeof(double));
  cudaMemset(other, 0, 4 * sizeof(double));
  double* const all[8] = {other, other, other, other, other, other, other, other};
  cudaMemcpy(rows, all, sizeof(all), cudaMemcpyHostToDevice);
  for (int round = 0; round < 4; ++round)
    launch(round, out, other, rows);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
