// A sparse matrix times a dense one: rows of different lengths, reads that depend on what was read.
// usage: sparse_product [ROWS [COLUMNS_OF_THE_DENSE_MATRIX [LAUNCHES]]]
#include <cmath>
#include <cstdlib>
#include <vector>

#include "common.h"

/// out = A * in; A is rows x rows in compressed rows, `in` and `out` are rows x width, row by row.
template <typename Real, typename Index>
__global__ void multiply(const Index* __restrict__ starts, const Index* __restrict__ columns,
                         const Real* __restrict__ values, const Real* in, Real* out, Index rows,
                         Index width, Real alpha, Real beta) {
  const Index at = blockIdx.x * blockDim.x + threadIdx.x;
  const Index row = at / width, column = at % width;
  if (row >= rows)
    return;
  Real sum = 0;
  for (Index k = starts[row]; k < starts[row + 1]; ++k)
    sum += values[k] * in[columns[k] * width + column];
  out[row * width + column] = alpha * sum + beta * out[row * width + column];
}

namespace {

template <typename T> T* upload(const std::vector<T>& host) {
  T* device = nullptr;
  check(cudaMalloc(&device, host.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  return device;
}

} // namespace

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 2000;
  const int width = argc > 2 ? std::atoi(argv[2]) : 16;
  const int launches = argc > 3 ? std::atoi(argv[3]) : 3;
  std::vector<int> starts(1, 0), columns;
  std::vector<double> values;
  unsigned state = 12345;
  for (int row = 0; row < rows; ++row) {
    const int length = 4 + (row % 13 == 0 ? 60 : row % 9);
    for (int k = 0; k < length; ++k) {
      state = state * 1664525u + 1013904223u;
      columns.push_back(static_cast<int>((state >> 8) % static_cast<unsigned>(rows)));
      values.push_back(0.001 * static_cast<double>(state >> 22));
    }
    starts.push_back(static_cast<int>(columns.size()));
  }
  std::vector<double> in(static_cast<size_t>(rows) * width), out(in.size(), 1.0);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = std::sin(0.001 * static_cast<double>(i));
  const int *deviceStarts = upload(starts), *deviceColumns = upload(columns);
  const double *deviceValues = upload(values), *deviceIn = upload(in);
  double* deviceOut = upload(out);
  const int threads = 64, blocks = (rows * width + threads - 1) / threads;
  for (int launch = 0; launch < launches; ++launch)
    multiply<double, int><<<blocks, threads>>>(deviceStarts, deviceColumns, deviceValues, deviceIn,
                                               deviceOut, rows, width, 0.5, 0.25);
  check(cudaDeviceSynchronize(), "multiply");
  std::vector<double> found(out.size());
  check(cudaMemcpy(found.data(), deviceOut, out.size() * sizeof(double), cudaMemcpyDeviceToHost),
        "download");
  bool isCorrect = true;
  for (int row = 0; row < rows; row += 31)
    for (int column = 0; column < width; column += 5) {
      double right = 1.0;
      for (int launch = 0; launch < launches; ++launch) {
        double sum = 0.0;
        for (int k = starts[row]; k < starts[row + 1]; ++k)
          sum += values[k] * in[static_cast<size_t>(columns[k]) * width + column];
        right = 0.5 * sum + 0.25 * right;
      }
      const size_t at = static_cast<size_t>(row) * width + column;
      isCorrect &= std::fabs(found[at] - right) <= 1e-9 * (std::fabs(right) + 1.0);
    }
  return report(isCorrect);
}
