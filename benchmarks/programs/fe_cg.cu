// Conjugate gradients on trilinear finite elements: the Poisson problem on a cube of edge^3 nodes,
// 27 entries per row in CSR form, everything on the device.
// usage: fe_cg [edge=64] [iterations=50]
#include <cmath>
#include <vector>

#include "common.h"

constexpr int kThreads = 256;

__global__ void multiply(int rows, const int* rowStart, const int* column, const double* value,
                         const double* x, double* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  double sum = 0.0;
  for (int k = rowStart[row]; k < rowStart[row + 1]; ++k)
    sum += value[k] * x[column[k]];
  y[row] = sum;
}

__global__ void update(int n, double a, const double* x, double b, double* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + b * y[i];
}

/// One partial sum per block, in a fixed order.
__global__ void dotBlocks(int n, const double* x, const double* y, double* partial) {
  __shared__ double sums[kThreads];
  double own = 0.0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    own += x[i] * y[i];
  sums[threadIdx.x] = own;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    partial[blockIdx.x] = sums[0];
}

struct Csr {
  std::vector<int> rowStart{0};
  std::vector<int> column;
  std::vector<double> value;
};

/// The stiffness of a cube is a sum of tensor products of one-dimensional stiffness (2, -1) and
/// mass (4, 1) / 6; nodes outside are fixed to zero.
static Csr stiffness(int edge) {
  Csr matrix;
  const auto k = [](int d) { return d == 0 ? 2.0 : -1.0; };
  const auto m = [](int d) { return d == 0 ? 4.0 / 6.0 : 1.0 / 6.0; };
  for (int z = 0; z < edge; ++z)
    for (int y = 0; y < edge; ++y)
      for (int x = 0; x < edge; ++x) {
        for (int dz = -1; dz <= 1; ++dz)
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
              const int i = x + dx, j = y + dy, l = z + dz;
              if (i < 0 || j < 0 || l < 0 || i >= edge || j >= edge || l >= edge)
                continue;
              matrix.column.push_back((l * edge + j) * edge + i);
              matrix.value.push_back(k(dx) * m(dy) * m(dz) + m(dx) * k(dy) * m(dz) +
                                     m(dx) * m(dy) * k(dz));
            }
        matrix.rowStart.push_back(static_cast<int>(matrix.column.size()));
      }
  return matrix;
}

template <typename T> static T* upload(const std::vector<T>& host) {
  T* device = nullptr;
  check(cudaMalloc(&device, host.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  return device;
}

static double dot(int n, const double* x, const double* y, double* partial, int blocks) {
  dotBlocks<<<blocks, kThreads>>>(n, x, y, partial);
  std::vector<double> sums(blocks);
  check(cudaMemcpy(sums.data(), partial, blocks * sizeof(double), cudaMemcpyDeviceToHost), "dot");
  double sum = 0.0;
  for (const double part : sums)
    sum += part;
  return sum;
}

int main(int argc, char** argv) {
  const int edge = argc > 1 ? std::atoi(argv[1]) : 64;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 50;
  const int n = edge * edge * edge;
  const Csr matrix = stiffness(edge);
  const int* rowStart = upload(matrix.rowStart);
  const int* column = upload(matrix.column);
  const double* value = upload(matrix.value);
  double* x = upload(std::vector<double>(n, 0.0));
  double* r = upload(std::vector<double>(n, 1.0));
  double* p = upload(std::vector<double>(n, 1.0));
  double* q = upload(std::vector<double>(n, 0.0));
  const int dotGrid = 128;
  double* partial = upload(std::vector<double>(dotGrid, 0.0));

  const int blocks = (n + kThreads - 1) / kThreads;
  double rr = dot(n, r, r, partial, dotGrid);
  const double initial = rr;
  for (int i = 0; i < iterations; ++i) {
    multiply<<<blocks, kThreads>>>(n, rowStart, column, value, p, q);
    const double alpha = rr / dot(n, p, q, partial, dotGrid);
    update<<<blocks, kThreads>>>(n, alpha, p, 1.0, x);
    update<<<blocks, kThreads>>>(n, -alpha, q, 1.0, r);
    const double next = dot(n, r, r, partial, dotGrid);
    update<<<blocks, kThreads>>>(n, 1.0, r, next / rr, p);
    rr = next;
  }
  check(cudaDeviceSynchronize(), "conjugate gradients");
  std::printf("fe_cg: %d nodes, %zu entries, %d iterations, residual %.6e of %.6e\n", n,
              matrix.value.size(), iterations, std::sqrt(rr), std::sqrt(initial));
  return report(rr < 0.1 * initial);
}
