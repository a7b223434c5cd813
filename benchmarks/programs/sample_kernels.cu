// A collection of kernels on images, words, prices and other samples.
// usage: sample_kernels [ITEMS [EDGE]]     edge of images
#include "collection.h"

using Byte = unsigned char;

__device__ inline long globalIndex() { return long(blockIdx.x) * blockDim.x + threadIdx.x; }

template <typename Real> __global__ void mandelbrot(int* out, int most, int edge) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= edge || y >= edge)
    return;
  const Real re = Real(3) * x / edge - 2, im = Real(2.4) * y / edge - Real(1.2);
  Real a = 0, b = 0;
  int step = 0;
  for (; step < most && a * a + b * b < 4; ++step) {
    const Real next = a * a - b * b + re;
    b = 2 * a * b + im;
    a = next;
  }
  out[long(y) * edge + x] = step;
}

__global__ void life(Byte* out, const Byte* in, int edge) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x <= 0 || y <= 0 || x >= edge - 1 || y >= edge - 1)
    return;
  int count = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      count += (dx != 0 || dy != 0) && in[long(y + dy) * edge + x + dx] % 2;
  const bool isAlive = in[long(y) * edge + x] % 2;
  out[long(y) * edge + x] = count == 3 || (isAlive && count == 2);
}

__global__ void sobel(Byte* out, const Byte* in, int edge) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x <= 0 || y <= 0 || x >= edge - 1 || y >= edge - 1)
    return;
  const Byte *above = in + long(y - 1) * edge + x, *own = above + edge, *below = own + edge;
  const int across = above[1] + 2 * own[1] + below[1] - above[-1] - 2 * own[-1] - below[-1];
  const int down = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1];
  out[long(y) * edge + x] = Byte(min(255.0f, sqrtf(float(across * across + down * down))));
}

__global__ void median(Byte* out, const Byte* in, int edge) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x <= 0 || y <= 0 || x >= edge - 1 || y >= edge - 1)
    return;
  int own[9];
  for (int k = 0; k < 9; ++k)
    own[k] = in[long(y + k / 3 - 1) * edge + x + k % 3 - 1];
  for (int end = 8; end > 3; --end)
    for (int k = 0; k < end; ++k) {
      const int low = min(own[k], own[k + 1]);
      own[k + 1] = max(own[k], own[k + 1]);
      own[k] = low;
    }
  out[long(y) * edge + x] = Byte(own[4]);
}

__global__ void bilateral(float* out, const Byte* in, float near, float alike, int edge) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || y < 2 || x >= edge - 2 || y >= edge - 2)
    return;
  const float centre = in[long(y) * edge + x];
  float sum = 0, weights = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) {
      const float value = in[long(y + dy) * edge + x + dx], off = value - centre;
      const float weight = expf(-near * (dx * dx + dy * dy) - alike * off * off);
      sum += weight * value;
      weights += weight;
    }
  out[long(y) * edge + x] = sum / weights;
}

__global__ void greyOf(Byte* grey, const uchar4* in, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  const uchar4 p = in[i];
  grey[i] = Byte((77 * p.x + 150 * p.y + 29 * p.z) >> 8);
}

/// How many letters have to be changed to make a word of another.
__global__ void editDistance(int* out, const Byte* first, const Byte* second, long n) {
  constexpr int kLength = 12;
  const long i = globalIndex();
  if (i >= n)
    return;
  int row[kLength + 1];
  for (int k = 0; k <= kLength; ++k)
    row[k] = k;
  for (int j = 1; j <= kLength; ++j) {
    int corner = row[0];
    row[0] = j;
    const Byte letter = second[(j - 1) * n + i] % 4;
    for (int k = 1; k <= kLength; ++k) {
      const int changed = corner + (first[(k - 1) * n + i] % 4 != letter);
      corner = row[k];
      row[k] = min(min(row[k], row[k - 1]) + 1, changed);
    }
  }
  out[i] = row[kLength];
}

__global__ void matches(int* counts, const Byte* text, const Byte* word, int length, long n) {
  const long i = globalIndex();
  int found = 0;
  if (i + length <= n) {
    found = 1;
    for (int k = 0; found && k < length; ++k)
      found = text[i + k] % 2 == word[k] % 2;
  }
  const int all = __syncthreads_count(found);
  if (threadIdx.x == 0)
    counts[blockIdx.x] = all;
}

__global__ void nearestCentre(int* own, const float* points, const float* centres, int count,
                              long n) {
  __shared__ float shared[3 * 64];
  for (int k = threadIdx.x; k < 3 * count; k += blockDim.x)
    shared[k] = centres[k];
  __syncthreads();
  const long i = globalIndex();
  if (i >= n)
    return;
  const float x = points[i], y = points[n + i], z = points[2 * n + i];
  float best = 1e30f;
  for (int k = 0; k < count; ++k) {
    const float dx = x - shared[3 * k], dy = y - shared[3 * k + 1], dz = z - shared[3 * k + 2];
    const float square = dx * dx + dy * dy + dz * dz;
    if (square < best) {
      best = square;
      own[i] = k;
    }
  }
}

template <typename Real> __device__ Real normal(Real x) {
  return Real(0.5) * erfc(x * Real(-0.70710678));
}

template <typename Real>
__global__ void blackScholes(Real* call, Real* put, const Real* price, const Real* strike,
                             Real rate, Real volatility, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  const Real d = (log(price[i] / strike[i]) + rate + volatility * volatility / 2) / volatility;
  const Real discounted = strike[i] * exp(-rate);
  const Real value = price[i] * normal(d) - discounted * normal(d - volatility);
  call[i] = value;
  put[i] = value + discounted - price[i];
}

/// A tree of prices for each option.
template <typename Real>
__global__ void binomial(Real* out, const Real* strike, Real up, Real likely, long n) {
  constexpr int kSteps = 16;
  const long i = globalIndex();
  if (i >= n)
    return;
  Real value[kSteps + 1], price = pow(up, Real(-kSteps));
  for (int k = 0; k <= kSteps; ++k, price *= up * up)
    value[k] = max(price - strike[i], Real(0));
  for (int step = kSteps; step > 0; --step)
    for (int k = 0; k < step; ++k)
      value[k] = likely * value[k + 1] + (1 - likely) * value[k];
  out[i] = value[0];
}

__global__ void pointsInCircle(int* counts, int tries, unsigned seed, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  unsigned state = mixed(seed + unsigned(i)) | 1;
  int inside = 0;
  for (int k = 0; k < tries; ++k) {
    float at[2];
    for (float& one : at) {
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
      one = float(state >> 8) / (1 << 24);
    }
    inside += at[0] * at[0] + at[1] * at[1] < 1;
  }
  counts[i] = inside;
}

__global__ void longestChain(int* steps, int most, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  unsigned value = unsigned(i) + 1;
  int count = 0;
  for (; value != 1 && count < most; ++count)
    value = value % 2 ? 3 * value + 1 : value / 2;
  steps[i] = count;
}

/// How far a ray goes until it meets one of some spheres.
__global__ void nearestSphere(float* out, const float* rays, const float4* spheres, int count,
                              long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  const float x = rays[i], y = rays[n + i], scale = rsqrtf(x * x + y * y + 1);
  float nearest = 1e30f;
  for (int k = 0; k < count; ++k) {
    const float4 s = spheres[k];
    const float along = (x * s.x + y * s.y + s.z) * scale;
    const float rest = along * along - (s.x * s.x + s.y * s.y + s.z * s.z) + s.w * s.w;
    if (rest > 0 && along - sqrtf(rest) > 0)
      nearest = min(nearest, along - sqrtf(rest));
  }
  out[i] = nearest;
}

__global__ void rotate(float4* points, float4 q, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  const float4 p = points[i];
  const float tx = 2 * (q.y * p.z - q.z * p.y), ty = 2 * (q.z * p.x - q.x * p.z),
              tz = 2 * (q.x * p.y - q.y * p.x);
  points[i] = {p.x + q.w * tx + q.y * tz - q.z * ty, p.y + q.w * ty + q.z * tx - q.x * tz,
               p.z + q.w * tz + q.x * ty - q.y * tx, p.w};
}

void images(int edge) {
  const long pixels = long(edge) * edge;
  const dim3 block(32, 8), grid(blocksFor(edge, 32), blocksFor(edge, 8));
  const Array<Byte> in(pixels * 4, 1), out(pixels * 4, 2);
  const Array<int> steps(pixels, 3, 1);
  const Array<float> smooth(pixels, 4);
  mandelbrot<float><<<grid, block>>>(steps, 128, edge), steps.show("mandelbrotF");
  mandelbrot<double><<<grid, block>>>(steps, 64, edge), steps.show("mandelbrotD");
  life<<<grid, block>>>(out, in, edge), out.show("life");
  sobel<<<grid, block>>>(out, in, edge), out.show("sobel");
  median<<<grid, block>>>(out, in, edge), out.show("median");
  bilateral<<<grid, block>>>(smooth, in, 0.2f, 0.001f, edge), smooth.show("bilateral");
  greyOf<<<blocksFor(pixels), kThreads>>>(out, reinterpret_cast<uchar4*>(static_cast<Byte*>(in)),
                                          pixels);
  out.show("greyOf");
}

void samples(long n) {
  const unsigned blocks = blocksFor(n);
  const Array<Byte> first(12 * n, 1), second(12 * n, 2);
  const Array<int> counts(n, 3, 1);
  const Array<float> points(4 * n, 4), centres(256, 5), call(2 * n, 6);
  const Array<double> price(n, 7), strike(n, 8), option(2 * n, 9);
  editDistance<<<blocks, kThreads>>>(counts, first, second, n), counts.show("editDistance");
  matches<<<blocksFor(12 * n), kThreads>>>(counts, first, second, 12, 12 * n),
      counts.show("matches");
  nearestCentre<<<blocks, kThreads>>>(counts, points, centres, 64, n), counts.show("nearestCentre");
  blackScholes<float><<<blocks, kThreads>>>(call, call + n, points, points + n, 0.02f, 0.3f, n),
      call.show("optionsF");
  blackScholes<double><<<blocks, kThreads>>>(option, option + n, price, strike, 0.02, 0.3, n),
      option.show("optionsD");
  const unsigned half = blocksFor(n / 2);
  binomial<float><<<half, kThreads>>>(call, points, 1.02f, 0.51f, n / 2), call.show("binomialF");
  binomial<double><<<half, kThreads>>>(option, price, 1.02, 0.51, n / 2), option.show("binomialD");
  pointsInCircle<<<blocks, kThreads>>>(counts, 32, 7, n), counts.show("pointsInCircle");
  longestChain<<<blocks, kThreads>>>(counts, 100, n), counts.show("longestChain");
  nearestSphere<<<blocks, kThreads>>>(
      call, points, reinterpret_cast<float4*>(static_cast<float*>(centres)), 32, n);
  call.show("nearestSphere");
  rotate<<<blocks, kThreads>>>(reinterpret_cast<float4*>(static_cast<float*>(points)),
                               {0.1f, 0.2f, 0.3f, 0.9f}, n);
  points.show("rotate");
}

int main(int argc, char** argv) {
  const long items = argc > 1 ? std::atol(argv[1]) : 1 << 12;
  const int edge = argc > 2 ? std::atoi(argv[2]) : 128;
  if (items < 4096 || edge < 64) {
    std::fprintf(stderr, "usage: sample_kernels [ITEMS, at least 4096 [EDGE, at least 64]]\n");
    return 2;
  }
  images(edge);
  samples(items);
}
