#include <cmath>
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr unsigned kFull = 0xffffffffu;

template <typename T> __device__ T warpMax(T v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1)
    v = fmaxf(v, __shfl_xor_sync(kFull, v, o));
  return v;
}
template <typename T> __device__ T warpSum(T v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1)
    v += __shfl_xor_sync(kFull, v, o);
  return v;
}
__device__ float2 mergeSoftmax(float2 a, float2 b) {
  float m = fmaxf(a.x, b.x);
  return make_float2(m, a.y * expf(a.x - m) + b.y * expf(b.x - m));
}

// one warp per query, online softmax
template <int D>
__global__ void attention(float* __restrict__ out, const float* __restrict__ q,
                          const float* __restrict__ k, const float* __restrict__ v, int n,
                          float scale) {
  int lane = threadIdx.x & 31, warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  constexpr int P = D / 32;
  float qr[P], acc[P];
#pragma unroll
  for (int p = 0; p < P; ++p) {
    qr[p] = q[warp * D + p * 32 + lane];
    acc[p] = 0;
  }
  float m = -INFINITY, l = 0;
  for (int j = 0; j < n; ++j) {
    float s = 0;
#pragma unroll
    for (int p = 0; p < P; ++p)
      s += qr[p] * k[j * D + p * 32 + lane];
    s = warpSum(s) * scale;
    float mNew = fmaxf(m, s);
    float c = __expf(m - mNew), w = expf(s - mNew);
    l = l * c + w;
#pragma unroll
    for (int p = 0; p < P; ++p)
      acc[p] = acc[p] * c + w * v[j * D + p * 32 + lane];
    m = mNew;
  }
#pragma unroll
  for (int p = 0; p < P; ++p)
    out[warp * D + p * 32 + lane] = acc[p] / l;
}
template __global__ void attention<64>(float*, const float*, const float*, const float*, int,
                                       float);
template __global__ void attention<128>(float*, const float*, const float*, const float*, int,
                                        float);

// block collective attention with shared memory and cross-warp merge
__global__ void __launch_bounds__(256)
    blockAttention(float* out, const float* q, const float* k, const float* v, int n, int d) {
  extern __shared__ float scores[];
  __shared__ float2 partial[8];
  int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  float2 state = make_float2(-INFINITY, 0);
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    float s = 0;
    for (int i = 0; i < d; ++i)
      s += q[blockIdx.x * d + i] * k[j * d + i];
    s *= rsqrtf((float)d);
    scores[j] = s;
    state = mergeSoftmax(state, make_float2(s, 1));
  }
  for (int o = 16; o > 0; o /= 2) {
    float2 other =
        make_float2(__shfl_down_sync(kFull, state.x, o), __shfl_down_sync(kFull, state.y, o));
    state = mergeSoftmax(state, other);
  }
  if (lane == 0)
    partial[w] = state;
  __syncthreads();
  if (w == 0) {
    state = lane < 8 ? partial[lane] : make_float2(-INFINITY, 0);
    for (int o = 4; o > 0; o /= 2) {
      float2 other =
          make_float2(__shfl_down_sync(kFull, state.x, o), __shfl_down_sync(kFull, state.y, o));
      state = mergeSoftmax(state, other);
    }
    if (lane == 0)
      partial[0] = state;
  }
  __syncthreads();
  float m = partial[0].x, inv = 1.f / partial[0].y;
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    float a = 0;
    for (int j = 0; j < n; ++j)
      a += expf(scores[j] - m) * inv * v[j * d + i];
    out[blockIdx.x * d + i] = a;
  }
}

__global__ void halfAttention(__half* out, const __half* q, const __half* k, int n) {
  int lane = threadIdx.x & 31;
  __half2 acc = __float2half2_rn(0.f);
  for (int j = 0; j < n; ++j) {
    __half2 a = __halves2half2(q[lane], q[lane + 32]);
    __half2 b = __halves2half2(k[j * 64 + lane], k[j * 64 + lane + 32]);
    acc = __hfma2(a, b, acc);
    acc = __hadd2(acc, __hmul2(a, h2exp(b)));
  }
  out[threadIdx.x] = __hadd(__low2half(acc), __high2half(acc));
}
__global__ void bfloatNorm(__nv_bfloat16* out, const __nv_bfloat16* x, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 32) {
    float f = __bfloat162float(x[i]);
    s += f * f;
  }
  s = warpSum(s);
  float r = rsqrtf(s / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += 32)
    out[i] = __float2bfloat16(__bfloat162float(x[i]) * r) * x[0] + x[1];
}
__global__ void gelu(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = x[i];
    y[i] = 0.5f * v * (1.f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
  }
}
__global__ void layerNorm(float* y, const float* x, const float* g, const float* b, int n) {
  namespace cg = cooperative_groups;
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  float mean = 0, sq = 0;
  for (int i = tile.thread_rank(); i < n; i += 32) {
    mean += x[i];
    sq += x[i] * x[i];
  }
  for (int o = 16; o; o /= 2) {
    mean += tile.shfl_xor(mean, o);
    sq += tile.shfl_xor(sq, o);
  }
  mean /= n;
  float var = sq / n - mean * mean;
  float r = 1.f / sqrtf(var + 1e-5f);
  for (int i = tile.thread_rank(); i < n; i += 32)
    y[i] = (x[i] - mean) * r * g[i] + b[i];
}
