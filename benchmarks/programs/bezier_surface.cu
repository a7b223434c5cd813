// A Bezier surface at many points: loops whose lengths are arguments, around a function with loops
// of its own. usage: bezier_surface [DEGREE [POINTS_PER_SIDE [LAUNCHES]]]
#include <cmath>
#include <cstdlib>
#include <vector>

#include "common.h"

struct Point {
  float x, y, z;
};

/// The Bernstein polynomial (n over k) mu^k (1 - mu)^(n - k). Factors of the binomial coefficient
/// are taken in turn, so that it stays small.
__host__ __device__ float bernstein(int k, float mu, int n) {
  float value = 1.0f;
  int above = n, below = k, rest = n - k;
  while (above >= 1) {
    value *= above--;
    if (below > 1)
      value /= static_cast<float>(below--);
    if (rest > 1)
      value /= static_cast<float>(rest--);
  }
  if (k > 0)
    value *= powf(mu, static_cast<float>(k));
  if (n - k > 0)
    value *= powf(1.0f - mu, static_cast<float>(n - k));
  return value;
}

__host__ __device__ Point pointOf(const Point* control, int degreeI, int degreeJ, float mu,
                                  float nu) {
  Point sum = {0.0f, 0.0f, 0.0f};
  for (int ki = 0; ki <= degreeI; ++ki) {
    const float along = bernstein(ki, mu, degreeI);
    for (int kj = 0; kj <= degreeJ; ++kj) {
      const float across = bernstein(kj, nu, degreeJ);
      const Point& one = control[ki * (degreeJ + 1) + kj];
      sum.x += one.x * along * across;
      sum.y += one.y * along * across;
      sum.z += one.z * along * across;
    }
  }
  return sum;
}

__global__ void surface(const Point* control, Point* out, int degreeI, int degreeJ, int countI,
                        int countJ) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= countI || j >= countJ)
    return;
  const float mu = static_cast<float>(i) / static_cast<float>(countI - 1);
  const float nu = static_cast<float>(j) / static_cast<float>(countJ - 1);
  out[i * countJ + j] = pointOf(control, degreeI, degreeJ, mu, nu);
}

int main(int argc, char** argv) {
  const int degree = argc > 1 ? std::atoi(argv[1]) : 3;
  const int count = argc > 2 ? std::atoi(argv[2]) : 300;
  const int launches = argc > 3 ? std::atoi(argv[3]) : 3;
  std::vector<Point> control((degree + 1) * (degree + 1));
  for (int i = 0; i <= degree; ++i)
    for (int j = 0; j <= degree; ++j)
      control[i * (degree + 1) + j] = {0.5f * i, 0.25f * j, std::sin(0.7f * (i + 3 * j))};
  const size_t bytes = sizeof(Point) * count * count;
  Point *in = nullptr, *out = nullptr;
  check(cudaMalloc(&in, control.size() * sizeof(Point)), "cudaMalloc");
  check(cudaMalloc(&out, bytes), "cudaMalloc");
  check(cudaMemcpy(in, control.data(), control.size() * sizeof(Point), cudaMemcpyHostToDevice),
        "upload");
  const dim3 block(16, 16), grid((count + 15) / 16, (count + 15) / 16);
  for (int launch = 0; launch < launches; ++launch)
    surface<<<grid, block>>>(in, out, degree, degree, count, count);
  check(cudaDeviceSynchronize(), "surface");
  std::vector<Point> found(static_cast<size_t>(count) * count);
  check(cudaMemcpy(found.data(), out, bytes, cudaMemcpyDeviceToHost), "download");
  bool isCorrect = true;
  for (int i = 0; i < count; i += 17) {
    const int j = (i * 29) % count;
    const Point right =
        pointOf(control.data(), degree, degree, i / (count - 1.0f), j / (count - 1.0f));
    const Point& one = found[static_cast<size_t>(i) * count + j];
    isCorrect &=
        std::fabs(one.x - right.x) + std::fabs(one.y - right.y) + std::fabs(one.z - right.z) <
        1e-3f;
  }
  return report(isCorrect);
}
