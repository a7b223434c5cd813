// Clouds and rain in the columns of a weather model: arrays of a thread's own, many powers and
// branches, blocks of a shape that suits the grid of the model and not the GPU.
// usage: column_physics [COLUMNS_PER_SIDE [LAUNCHES]]
#include <cmath>
#include <cstdlib>
#include <vector>

#include "common.h"

constexpr int kLevels = 32;

struct Fields {
  float* temperature;
  float* vapour;
  float* cloud;
  float* rain;
  const float* pressure;
  const float* thickness;
  float* fallen;
};

__host__ __device__ inline float saturation(float temperature, float pressure) {
  const float vapour = 611.2f * expf(17.67f * (temperature - 273.15f) / (temperature - 29.65f));
  return 0.622f * vapour / fmaxf(pressure - 0.378f * vapour, 1.0f);
}

/// One step of a column. Level k of column (i, j) is at (k * rows + j) * columns + i.
__host__ __device__ inline void step(const Fields& all, int i, int j, int columns, int rows,
                                     int levels, float dt) {
  float t[kLevels], q[kLevels], c[kLevels], r[kLevels], speed[kLevels], flux[kLevels + 1];
  const int stride = columns * rows, base = j * columns + i;
  for (int k = 0; k < levels; ++k) {
    t[k] = all.temperature[base + k * stride];
    q[k] = fmaxf(all.vapour[base + k * stride], 0.0f);
    c[k] = fmaxf(all.cloud[base + k * stride], 0.0f);
    r[k] = fmaxf(all.rain[base + k * stride], 0.0f);
  }
  for (int k = 0; k < levels; ++k) {
    const float p = all.pressure[base + k * stride];
    const float density = p / (287.0f * t[k]);
    // Rain that forms of itself and by collection.
    const float forming = c[k] > 1e-3f ? 1e-3f * (c[k] - 1e-3f) * dt : 0.0f;
    const float collecting = 2.2f * c[k] * powf(r[k], 0.875f) * dt;
    const float gone = fminf(c[k], forming + collecting);
    c[k] -= gone;
    r[k] += gone;
    // Rain that evaporates where the air is dry.
    const float enough = saturation(t[k], p);
    if (q[k] < enough && r[k] > 0.0f) {
      const float vent = 1.6f + 124.9f * powf(density * r[k], 0.2046f);
      const float rate = (1.0f - q[k] / enough) * vent * powf(density * r[k], 0.525f) /
                         (density * (5.4e5f + 2.55e6f / (p * enough)));
      const float lost = fminf(r[k], rate * dt);
      r[k] -= lost;
      q[k] += lost;
      t[k] -= 2488.0f * lost;
    }
    // Condensation, by Newton's method.
    for (int turn = 0; turn < 3; ++turn) {
      const float limit = saturation(t[k], p);
      const float slope = 1.0f + 6.1e6f * limit / (t[k] - 29.65f) / (t[k] - 29.65f);
      const float change = fmaxf((q[k] - limit) / slope, -c[k]);
      q[k] -= change;
      c[k] += change;
      t[k] += 2488.0f * change;
    }
    speed[k] = r[k] > 1e-9f
                   ? 36.34f * powf(0.001f * density * r[k], 0.1364f) * sqrtf(1.2f / density)
                   : 0.0f;
  }
  // Rain falls, in as many parts of the step as the fastest needs.
  float fastest = 0.0f;
  for (int k = 0; k < levels; ++k)
    fastest = fmaxf(fastest, speed[k] * dt / all.thickness[base + k * stride]);
  const int parts = 1 + static_cast<int>(fastest);
  float fallen = 0.0f;
  for (int part = 0; part < parts; ++part) {
    flux[levels] = 0.0f;
    for (int k = 0; k < levels; ++k)
      flux[k] = speed[k] * r[k] * all.pressure[base + k * stride] / (287.0f * t[k]);
    for (int k = 0; k < levels; ++k) {
      const float density = all.pressure[base + k * stride] / (287.0f * t[k]);
      const float gain = (flux[k + 1] - flux[k]) / (density * all.thickness[base + k * stride]);
      r[k] = fmaxf(r[k] + gain * dt / parts, 0.0f);
    }
    fallen += flux[0] * dt / parts;
  }
  for (int k = 0; k < levels; ++k) {
    all.temperature[base + k * stride] = t[k];
    all.vapour[base + k * stride] = q[k];
    all.cloud[base + k * stride] = c[k];
    all.rain[base + k * stride] = r[k];
  }
  all.fallen[base] += fallen;
}

__global__ void columnStep(Fields all, int columns, int rows, int levels, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < columns && j < rows)
    step(all, i, j, columns, rows, levels, dt);
}

namespace {

float* upload(const std::vector<float>& host) {
  float* device = nullptr;
  check(cudaMalloc(&device, host.size() * sizeof(float)), "cudaMalloc");
  check(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice),
        "upload");
  return device;
}

} // namespace

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 64;
  const int launches = argc > 2 ? std::atoi(argv[2]) : 3;
  const int columns = side, rows = side, levels = kLevels - 1, size = columns * rows;
  std::vector<float> t(size * levels), q(t.size()), c(t.size()), r(t.size()), p(t.size()),
      z(t.size()), f(size);
  for (int k = 0; k < levels; ++k)
    for (int at = 0; at < size; ++at) {
      const int to = k * size + at;
      p[to] = 1.0e5f * std::exp(-0.035f * k);
      t[to] = 300.0f - 2.0f * k + 2.0f * std::sin(0.01f * at);
      q[to] = saturation(t[to], p[to]) * (0.7f + 0.4f * std::sin(0.013f * at + 0.3f * k));
      c[to] = 0.002f * std::fmax(0.0f, std::sin(0.017f * at - 0.2f * k));
      r[to] = 0.001f * std::fmax(0.0f, std::sin(0.011f * at + 0.1f * k));
      z[to] = 200.0f + 5.0f * k;
    }
  const Fields all = {upload(t), upload(q), upload(c), upload(r), upload(p), upload(z), upload(f)};
  const dim3 block(8, 8), grid((columns + 7) / 8, (rows + 7) / 8);
  for (int launch = 0; launch < launches; ++launch)
    columnStep<<<grid, block>>>(all, columns, rows, levels, 20.0f);
  check(cudaDeviceSynchronize(), "columnStep");
  std::vector<float> fallen(size);
  check(cudaMemcpy(fallen.data(), all.fallen, size * sizeof(float), cudaMemcpyDeviceToHost),
        "download");
  Fields host = {t.data(), q.data(), c.data(), r.data(), p.data(), z.data(), f.data()};
  bool isCorrect = true;
  for (int at = 0; at < size; at += 97) {
    for (int launch = 0; launch < launches; ++launch)
      step(host, at % columns, at / columns, columns, rows, levels, 20.0f);
    isCorrect &= std::fabs(f[at] - fallen[at]) <= 1e-3f * std::fabs(f[at]) + 1e-4f;
  }
  return report(isCorrect);
}
