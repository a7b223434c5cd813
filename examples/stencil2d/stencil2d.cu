// Heat diffusion on a 2-D grid: five-point stencil with a shared-memory tile and a barrier.
// usage: stencil2d [edge] [steps]
#include <cmath>
#include <utility>
#include <vector>

#include "../common.h"

constexpr int kTile = 16;

__global__ void __launch_bounds__(kTile* kTile)
    diffuse(const float* in, float* out, int width, int height, float kappa) {
  __shared__ float tile[kTile + 2][kTile + 2];
  const int x = blockIdx.x * kTile + threadIdx.x;
  const int y = blockIdx.y * kTile + threadIdx.y;
  const int tx = threadIdx.x + 1;
  const int ty = threadIdx.y + 1;
  const bool isInside = x < width && y < height;

  auto at = [=](int column, int row) {
    column = min(max(column, 0), width - 1);
    row = min(max(row, 0), height - 1);
    return in[row * width + column];
  };
  tile[ty][tx] = at(x, y);
  if (threadIdx.x == 0)
    tile[ty][0] = at(x - 1, y);
  if (threadIdx.x == kTile - 1)
    tile[ty][kTile + 1] = at(x + 1, y);
  if (threadIdx.y == 0)
    tile[0][tx] = at(x, y - 1);
  if (threadIdx.y == kTile - 1)
    tile[kTile + 1][tx] = at(x, y + 1);
  __syncthreads();

  if (isInside) {
    const float centre = tile[ty][tx];
    const float neighbours = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
    out[y * width + x] = centre + kappa * (neighbours - 4.0f * centre);
  }
}

int main(int argc, char** argv) {
  const int edge = argc > 1 ? std::atoi(argv[1]) : 256;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 10;
  const size_t bytes = sizeof(float) * edge * edge;
  std::vector<float> grid(static_cast<size_t>(edge) * edge, 0.0f);
  for (int y = edge / 4; y < edge / 2; ++y)
    for (int x = edge / 4; x < edge / 2; ++x)
      grid[y * edge + x] = 100.0f;
  double before = 0.0;
  for (float value : grid)
    before += value;

  float *current, *next;
  check(cudaMalloc(&current, bytes), "cudaMalloc current");
  check(cudaMalloc(&next, bytes), "cudaMalloc next");
  check(cudaMemcpy(current, grid.data(), bytes, cudaMemcpyHostToDevice), "copy in");
  const dim3 block(kTile, kTile);
  const dim3 blocks((edge + kTile - 1) / kTile, (edge + kTile - 1) / kTile);
  for (int step = 0; step < steps; ++step) {
    diffuse<<<blocks, block>>>(current, next, edge, edge, 0.2f);
    std::swap(current, next);
  }
  check(cudaDeviceSynchronize(), "diffuse");
  check(cudaMemcpy(grid.data(), current, bytes, cudaMemcpyDeviceToHost), "copy out");

  double after = 0.0;
  for (float value : grid)
    after += value;
  std::printf("stencil2d: %d x %d, %d steps, centre %.6f\n", edge, edge, steps,
              grid[(edge / 2) * edge + edge / 2]);
  cudaFree(current);
  cudaFree(next);
  return report(std::fabs(after - before) < 1e-5 * before && grid[(edge / 3) * edge + edge / 3] > 1.0f);
}
