// Gravity between n bodies: a struct passed by value, constants in constant memory, rsqrt.
// usage: nbody [bodies] [steps]
#include <cmath>
#include <vector>

#include "../common.h"

struct Step {
  float dt;
  float softening;
  int bodies;
  float3 drift;
};

__constant__ float gravity[2];

__global__ void integrate(const float4* position, float4* moved, float4* velocity, Step step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= step.bodies)
    return;
  const float4 self = position[i];
  float3 force{0.0f, 0.0f, 0.0f};
  for (int j = 0; j < step.bodies; ++j) {
    const float4 other = position[j];
    const float3 d{other.x - self.x, other.y - self.y, other.z - self.z};
    const float inverse = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + step.softening);
    const float scale = gravity[0] * other.w * inverse * inverse * inverse;
    force.x += scale * d.x;
    force.y += scale * d.y;
    force.z += scale * d.z;
  }
  float4 v = velocity[i];
  v.x = (v.x + force.x * step.dt) * gravity[1] + step.drift.x;
  v.y = (v.y + force.y * step.dt) * gravity[1] + step.drift.y;
  v.z = (v.z + force.z * step.dt) * gravity[1] + step.drift.z;
  velocity[i] = v;
  moved[i] = {self.x + v.x * step.dt, self.y + v.y * step.dt, self.z + v.z * step.dt, self.w};
}

int main(int argc, char** argv) {
  const int bodies = argc > 1 ? std::atoi(argv[1]) : 1024;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 4;
  const size_t bytes = bodies * sizeof(float4);
  std::vector<float4> position(bodies), velocity(bodies, float4{0, 0, 0, 0});
  for (int i = 0; i < bodies; ++i) {
    const float angle = 0.1f * static_cast<float>(i);
    position[i] = {std::cos(angle) * i, std::sin(angle) * i, static_cast<float>(i % 13), 1.0f};
  }
  float4 *current, *next, *speed;
  check(cudaMalloc(&current, bytes), "cudaMalloc position");
  check(cudaMalloc(&next, bytes), "cudaMalloc moved");
  check(cudaMalloc(&speed, bytes), "cudaMalloc velocity");
  check(cudaMemcpy(current, position.data(), bytes, cudaMemcpyHostToDevice), "copy position");
  check(cudaMemcpy(speed, velocity.data(), bytes, cudaMemcpyHostToDevice), "copy velocity");
  const float constants[2] = {6.674e-1f, 0.999f};
  check(cudaMemcpyToSymbol(gravity, constants, sizeof(constants)), "copy constants");

  const Step step{0.01f, 1e-3f, bodies, {1e-4f, 0.0f, -1e-4f}};
  for (int k = 0; k < steps; ++k) {
    integrate<<<(bodies + 127) / 128, 128>>>(current, next, speed, step);
    float4* swap = current;
    current = next;
    next = swap;
  }
  check(cudaDeviceSynchronize(), "integrate");
  check(cudaMemcpy(position.data(), current, bytes, cudaMemcpyDeviceToHost), "copy back");
  check(cudaMemcpy(velocity.data(), speed, bytes, cudaMemcpyDeviceToHost), "copy back");

  bool isFinite = true;
  double momentum = 0.0;
  for (int i = 0; i < bodies; ++i) {
    isFinite = isFinite && std::isfinite(position[i].x) && std::isfinite(velocity[i].z);
    momentum += velocity[i].y;
  }
  std::printf("nbody: %d bodies, %d steps, mean momentum %.4f\n", bodies, steps,
              std::fabs(momentum) / bodies);
  return report(isFinite && std::fabs(momentum) < 1.0 * bodies && velocity[1].x != 0.0f);
}
