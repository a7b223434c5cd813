// Steps of the Adam optimiser, as a template that is instantiated while the program runs: what its
// user asked for (precision, weight decay, steps in a launch) is known to the compiler.
// usage: adam [parameters] [float|double] [decay] [steps per launch]
#include <cmath>
#include <string>
#include <vector>

#include "../common.h"

#include <proteus/CppJitModule.h>

static const char* const kSource = R"cuda(
template <typename Real, bool HasDecay, int Steps>
__global__ void adam(Real* parameters, Real* means, Real* variances, const Real* gradients,
                     Real rate, Real decay, int firstStep, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  const Real beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  Real parameter = parameters[i], mean = means[i], variance = variances[i];
  const Real gradient = gradients[i];
#pragma unroll
  for (int step = firstStep; step < firstStep + Steps; ++step) {
    mean = beta1 * mean + (1 - beta1) * gradient;
    variance = beta2 * variance + (1 - beta2) * gradient * gradient;
    const Real correctedMean = mean / (1 - pow(beta1, Real(step)));
    const Real correctedVariance = variance / (1 - pow(beta2, Real(step)));
    if (HasDecay)
      parameter -= rate * decay * parameter;
    parameter -= rate * correctedMean / (sqrt(correctedVariance) + epsilon);
  }
  parameters[i] = parameter;
  means[i] = mean;
  variances[i] = variance;
}
)cuda";

constexpr int kLaunches = 5;
constexpr double kRate = 1e-2;

/// The same in plain C++, for one parameter, in double precision.
static double expectedParameter(double parameter, double gradient, double decay, int steps) {
  double mean = 0, variance = 0;
  for (int step = 1; step <= steps; ++step) {
    mean = 0.9 * mean + 0.1 * gradient;
    variance = 0.999 * variance + 0.001 * gradient * gradient;
    parameter -= kRate * decay * parameter;
    parameter -= kRate * (mean / (1 - std::pow(0.9, step))) /
                 (std::sqrt(variance / (1 - std::pow(0.999, step))) + 1e-8);
  }
  return parameter;
}

template <typename Real> static Real* onDevice(const std::vector<Real>& values) {
  Real* device = nullptr;
  const size_t bytes = values.size() * sizeof(Real);
  check(cudaMalloc(&device, bytes), "cudaMalloc");
  check(cudaMemcpy(device, values.data(), bytes, cudaMemcpyHostToDevice), "copy to the device");
  return device;
}

template <typename Real> static int run(int count, double decay, int stepsPerLaunch) {
  std::vector<Real> parameters(count), gradients(count), zeros(count);
  for (int i = 0; i < count; ++i) {
    parameters[i] = Real(i % 100) / 50 - 1;
    gradients[i] = Real(i % 7) - 3;
  }
  const std::vector<Real> begin = parameters;
  Real* deviceParameters = onDevice(parameters);
  Real *means = onDevice(zeros), *variances = onDevice(zeros), *steepness = onDevice(gradients);

  proteus::CppJitModule module("cuda", kSource);
  auto& adam = module.instantiate("adam", sizeof(Real) == 4 ? "float" : "double",
                                  decay != 0 ? "true" : "false", std::to_string(stepsPerLaunch));
  const int threads = 256, blocks = (count + threads - 1) / threads;
  for (int launch = 0; launch < kLaunches; ++launch)
    check(adam.launch(blocks, threads, 0, nullptr, deviceParameters, means, variances, steepness,
                      Real(kRate), Real(decay), 1 + launch * stepsPerLaunch, count),
          "launch adam");
  check(
      cudaMemcpy(parameters.data(), deviceParameters, count * sizeof(Real), cudaMemcpyDeviceToHost),
      "copy from the device");

  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const double expected =
        expectedParameter(begin[i], gradients[i], decay, kLaunches * stepsPerLaunch);
    worst = std::fmax(worst, std::fabs(parameters[i] - expected));
  }
  std::printf("adam: %d parameters, %d steps, first one %g -> %g\n", count,
              kLaunches * stepsPerLaunch, double(begin[0]), double(parameters[0]));
  for (Real* device : {deviceParameters, means, variances, steepness})
    cudaFree(device);
  return report(worst < (sizeof(Real) == 4 ? 1e-5 : 1e-12));
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1 << 16;
  const std::string precision = argc > 2 ? argv[2] : "float";
  const double decay = argc > 3 ? std::atof(argv[3]) : 0.01;
  const int steps = argc > 4 ? std::atoi(argv[4]) : 4;
  return precision == "double" ? run<double>(count, decay, steps) : run<float>(count, decay, steps);
}
