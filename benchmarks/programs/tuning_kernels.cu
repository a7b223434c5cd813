// Three kernels of different character whose duration is chosen by an amount of work, to see how
// many configurations a second can be tried on each. usage: tuning_kernels calibrate
// forces|lattice|reactions MICROSECONDS   prints the work for that time
//        tuning_kernels forces|lattice|reactions WORK                     launches the kernel once
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common.h"

constexpr int kItems = 1 << 18;
constexpr int kThreads = 128;

/// Forces of `work` neighbours on every particle.
__global__ void forces(const float4* position, float4* force, float cutoff, int work, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const float4 self = position[i];
  float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int k = 1; k <= work; ++k) {
    const float4 other = position[(i + k * 7) & (n - 1)];
    const float dx = self.x - other.x, dy = self.y - other.y, dz = self.z - other.z;
    const float square = dx * dx + dy * dy + dz * dz + 0.01f;
    if (square > cutoff)
      continue;
    const float inverse = 1.0f / square;
    const float sixth = inverse * inverse * inverse;
    const float scale = 24.0f * inverse * sixth * (2.0f * sixth - 1.0f);
    sum.x += scale * dx;
    sum.y += scale * dy;
    sum.z += scale * dz;
    sum.w += 4.0f * sixth * (sixth - 1.0f);
  }
  force[i] = sum;
}

/// `work` collisions of nine populations per cell, in registers.
__global__ void lattice(const double* in, double* out, double relaxation, int work, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const double weight[9] = {4. / 9,  1. / 9,  1. / 9,  1. / 9, 1. / 9,
                            1. / 36, 1. / 36, 1. / 36, 1. / 36};
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
  const int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  double f[9];
#pragma unroll
  for (int q = 0; q < 9; ++q)
    f[q] = in[q * n + i];
  for (int step = 0; step < work; ++step) {
    double density = 0.0, ux = 0.0, uy = 0.0;
#pragma unroll
    for (int q = 0; q < 9; ++q) {
      density += f[q];
      ux += cx[q] * f[q];
      uy += cy[q] * f[q];
    }
    ux /= density;
    uy /= density;
#pragma unroll
    for (int q = 0; q < 9; ++q) {
      const double along = 3.0 * (cx[q] * ux + cy[q] * uy);
      const double rest =
          weight[q] * density * (1.0 + along + 0.5 * along * along - 1.5 * (ux * ux + uy * uy));
      f[q] += relaxation * (rest - f[q]);
    }
  }
#pragma unroll
  for (int q = 0; q < 9; ++q)
    out[q * n + i] = f[q];
}

struct Rates {
  double forward[6];
  double backward[6];
};

/// `work` midpoint steps of a chain of reactions between seven species per cell.
__global__ void reactions(double* species, const double* temperature, Rates rates, double dt,
                          int work, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double y[7], k1[6], middle[7];
  for (int s = 0; s < 7; ++s)
    y[s] = species[s * n + i];
  const double activation = exp(-1.0 / temperature[i]);
  for (int step = 0; step < work; ++step) {
    for (int s = 0; s < 7; ++s)
      middle[s] = y[s];
    for (int r = 0; r < 6; ++r) {
      k1[r] = activation * (rates.forward[r] * y[r] - rates.backward[r] * y[r + 1] * y[r + 1]);
      middle[r] -= 0.5 * dt * k1[r];
      middle[r + 1] += 0.5 * dt * k1[r];
    }
    for (int r = 0; r < 6; ++r) {
      const double flow = activation * (rates.forward[r] * middle[r] -
                                        rates.backward[r] * middle[r + 1] * middle[r + 1]);
      y[r] -= dt * flow;
      y[r + 1] += dt * flow;
    }
  }
  for (int s = 0; s < 7; ++s)
    species[s * n + i] = y[s];
}

class Problem {
public:
  explicit Problem(const std::string& name) : name_(name) {
    input_ = upload(values(9 * kItems, 0.05, 0.01));
    temperature_ = upload(values(kItems, 1.0, 0.5));
    std::vector<float4> particles(kItems);
    for (int i = 0; i < kItems; ++i)
      particles[i] = {0.4f * (i % 61), 0.4f * (i % 59), 0.4f * (i % 53), 1.0f};
    position_ = upload(particles);
    check(cudaMalloc(&output_, 9 * kItems * sizeof(double)), "cudaMalloc");
    check(cudaMemset(output_, 0, 9 * kItems * sizeof(double)), "cudaMemset");
  }

  void launch(int work) {
    const int blocks = kItems / kThreads;
    if (name_ == "forces")
      forces<<<blocks, kThreads>>>(position_, reinterpret_cast<float4*>(output_), 400.0f, work,
                                   kItems);
    else if (name_ == "lattice")
      lattice<<<blocks, kThreads>>>(input_, output_, 0.6, work, kItems);
    else
      reactions<<<blocks, kThreads>>>(input_, temperature_, rates_, 1e-4, work, kItems);
    check(cudaGetLastError(), "launch");
  }

  double microseconds(int work) {
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "cudaEventCreate");
    check(cudaEventCreate(&stop), "cudaEventCreate");
    float best = 1e30f;
    for (int i = 0; i < 3; ++i) {
      check(cudaEventRecord(start), "cudaEventRecord");
      launch(work);
      check(cudaEventRecord(stop), "cudaEventRecord");
      check(cudaEventSynchronize(stop), name_.c_str());
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
      best = milliseconds < best ? milliseconds : best;
    }
    return 1000.0 * best;
  }

  /// Time grows linearly with work, but for a start-up cost: two points give the line.
  int calibrate(double target) {
    int work = 16;
    double time = microseconds(work);
    while (time < 0.5 * target && work < (1 << 26)) {
      work *= 2;
      time = microseconds(work);
    }
    const double half = microseconds(work / 2);
    const double slope = (time - half) / (work - work / 2);
    return slope > 0 ? std::max(1, static_cast<int>(work + (target - time) / slope)) : work;
  }

private:
  static std::vector<double> values(int count, double base, double range) {
    std::vector<double> result(count);
    for (int i = 0; i < count; ++i)
      result[i] = base + range * std::sin(0.001 * i);
    return result;
  }
  template <typename T> static T* upload(const std::vector<T>& host) {
    T* device = nullptr;
    check(cudaMalloc(&device, host.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
          "upload");
    return device;
  }

  std::string name_;
  float4* position_ = nullptr;
  double* input_ = nullptr;
  double* temperature_ = nullptr;
  double* output_ = nullptr;
  Rates rates_{{1.0, 0.8, 0.6, 0.4, 0.3, 0.2}, {0.1, 0.2, 0.3, 0.2, 0.1, 0.1}};
};

int main(int argc, char** argv) {
  const bool isCalibration = argc == 4 && std::strcmp(argv[1], "calibrate") == 0;
  if (!isCalibration && argc != 3) {
    std::fprintf(stderr, "usage: tuning_kernels [calibrate] forces|lattice|reactions NUMBER\n");
    return 2;
  }
  Problem problem(argv[argc - 2]);
  const double number = std::atof(argv[argc - 1]);
  if (isCalibration) {
    std::printf("%d\n", problem.calibrate(number));
    return 0;
  }
  problem.launch(static_cast<int>(number));
  check(cudaDeviceSynchronize(), argv[1]);
  return report(true);
}
