// Conjugate gradients on a 2-D Laplacian in CSR form: a grid-stride template kernel for the sparse
// matrix-vector product, launched once per iteration together with vector updates.
// usage: spmv_cg [edge] [iterations]
#include <cmath>
#include <vector>

#include "../common.h"

template <typename T>
__global__ void spmv(int rows, const int* rowStart, const int* column, const T* value, const T* x,
                     T* y) {
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
    T sum = 0;
    for (int k = rowStart[row]; k < rowStart[row + 1]; ++k)
      sum += value[k] * x[column[k]];
    y[row] = sum;
  }
}

template <typename T> __global__ void axpby(int n, T a, const T* x, T b, T* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + b * y[i];
}

struct Csr {
  std::vector<int> rowStart{0};
  std::vector<int> column;
  std::vector<double> value;
};

static Csr laplacian(int edge) {
  Csr matrix;
  for (int y = 0; y < edge; ++y)
    for (int x = 0; x < edge; ++x) {
      auto add = [&](int column, int row, double value) {
        if (column < 0 || row < 0 || column >= edge || row >= edge)
          return;
        matrix.column.push_back(row * edge + column);
        matrix.value.push_back(value);
      };
      add(x, y - 1, -1.0);
      add(x - 1, y, -1.0);
      add(x, y, 4.0);
      add(x + 1, y, -1.0);
      add(x, y + 1, -1.0);
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

static double dot(const double* deviceX, const double* deviceY, int n) {
  static std::vector<double> x, y;
  x.resize(n);
  y.resize(n);
  check(cudaMemcpy(x.data(), deviceX, n * sizeof(double), cudaMemcpyDeviceToHost), "download");
  check(cudaMemcpy(y.data(), deviceY, n * sizeof(double), cudaMemcpyDeviceToHost), "download");
  double sum = 0.0;
  for (int i = 0; i < n; ++i)
    sum += x[i] * y[i];
  return sum;
}

int main(int argc, char** argv) {
  const int edge = argc > 1 ? std::atoi(argv[1]) : 64;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 50;
  const int n = edge * edge;
  const Csr matrix = laplacian(edge);
  const int* rowStart = upload(matrix.rowStart);
  const int* column = upload(matrix.column);
  const double* value = upload(matrix.value);
  double* x = upload(std::vector<double>(n, 0.0));
  double* r = upload(std::vector<double>(n, 1.0));
  double* p = upload(std::vector<double>(n, 1.0));
  double* q = upload(std::vector<double>(n, 0.0));

  const int threads = 128;
  const int blocks = 32;
  double rr = dot(r, r, n);
  const double initial = rr;
  for (int k = 0; k < iterations; ++k) {
    spmv<double><<<blocks, threads>>>(n, rowStart, column, value, p, q);
    const double alpha = rr / dot(p, q, n);
    axpby<double><<<blocks, threads>>>(n, alpha, p, 1.0, x);
    axpby<double><<<blocks, threads>>>(n, -alpha, q, 1.0, r);
    const double rrNew = dot(r, r, n);
    axpby<double><<<blocks, threads>>>(n, 1.0, r, rrNew / rr, p);
    rr = rrNew;
  }
  check(cudaDeviceSynchronize(), "conjugate gradients");
  std::printf("spmv_cg: %d unknowns, %d iterations, residual %.6e of %.6e\n", n, iterations,
              std::sqrt(rr), std::sqrt(initial));
  return report(rr < 0.1 * initial);
}
