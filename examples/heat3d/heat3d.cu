// Heat diffusion in an insulated box: seven-point stencil in global memory, one thread per cell.
// What the caches make of it depends on the shape of the blocks. usage: heat3d [edge] [steps]
#include <cmath>
#include <utility>
#include <vector>

#include "../common.h"

constexpr int kBlockEdge = 8;

__global__ void diffuse(const double* __restrict__ in, double* __restrict__ out, int width,
                        int height, int depth, double kappa) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= width || y >= height || z >= depth)
    return;
  const size_t row = width;
  const size_t plane = row * height;
  const size_t cell = z * plane + y * row + x;
  const double centre = in[cell];
  // Nothing flows through the walls: what is behind them is as warm as the cell.
  const double west = x > 0 ? in[cell - 1] : centre;
  const double east = x < width - 1 ? in[cell + 1] : centre;
  const double south = y > 0 ? in[cell - row] : centre;
  const double north = y < height - 1 ? in[cell + row] : centre;
  const double below = z > 0 ? in[cell - plane] : centre;
  const double above = z < depth - 1 ? in[cell + plane] : centre;
  out[cell] = centre + kappa * (west + east + south + north + below + above - 6.0 * centre);
}

static double heatIn(const std::vector<double>& box) {
  double sum = 0.0;
  for (double value : box)
    sum += value;
  return sum;
}

int main(int argc, char** argv) {
  const int edge = argc > 1 ? std::atoi(argv[1]) : 64;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 4;
  const size_t row = edge;
  std::vector<double> box(row * row * row, 0.0);
  for (int z = 0; z < edge / 2; ++z)
    for (int y = edge / 4; y < edge / 2; ++y)
      for (int x = edge / 4; x < edge / 2; ++x)
        box[(z * row + y) * row + x] = 1.0 + 0.01 * ((x + y + z) % 7);
  const double before = heatIn(box);

  double *current, *next;
  const size_t bytes = box.size() * sizeof(double);
  check(cudaMalloc(&current, bytes), "cudaMalloc current");
  check(cudaMalloc(&next, bytes), "cudaMalloc next");
  check(cudaMemcpy(current, box.data(), bytes, cudaMemcpyHostToDevice), "copy in");
  const dim3 block(kBlockEdge, kBlockEdge, kBlockEdge);
  const int across = (edge + kBlockEdge - 1) / kBlockEdge;
  for (int step = 0; step < steps; ++step) {
    diffuse<<<dim3(across, across, across), block>>>(current, next, edge, edge, edge, 0.1);
    std::swap(current, next);
  }
  check(cudaDeviceSynchronize(), "diffuse");
  check(cudaMemcpy(box.data(), current, bytes, cudaMemcpyDeviceToHost), "copy out");

  const double after = heatIn(box);
  const double centre = box[(row / 4 * row + row / 2) * row + row / 2];
  std::printf("heat3d: %d x %d x %d, %d steps, heat %.6f, at the corner %.9f\n", edge, edge, edge,
              steps, after, centre);
  cudaFree(current);
  cudaFree(next);
  return report(std::fabs(after - before) < 1e-9 * before && (steps < 3 || centre > 0.0));
}
