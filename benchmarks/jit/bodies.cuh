// What the kernels of kernels.cu compute, and their templates with everything known. Included by
// the program and given to NVRTC as text, so it includes nothing; WEIGHTS and COEFFICIENTS are what
// NVRTC is told with -D.
#ifndef WEIGHTS
#define WEIGHTS .04f, .08f, .12f, .16f, .2f, .16f, .12f, .08f, .04f
#define COEFFICIENTS 1, .5, .25, .125, .0625, .03125, .3, .2, .1, .7, .6, .4
#endif

using Size = decltype(sizeof 0);

// --- one row of a stencil -----------------------------------------------------------------------
__device__ float row(const float* in, const float* weights, int radius, int width, int at) {
  float sum = 0;
  const int x = at % width;
  if (x < radius || x >= width - radius)
    return in[at];
  for (int i = -radius; i <= radius; ++i)
    sum += weights[i + radius] * in[at + i];
  return sum;
}
template <int Radius, int Width> __global__ void stencilOf(const float* in, float* out, int count) {
  constexpr float weights[] = {WEIGHTS};
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count)
    out[at] = row(in, weights, Radius, Width, at);
}

// --- a polynomial -------------------------------------------------------------------------------
template <int Terms> __global__ void polynomialOf(const double* x, double* y, int count) {
  constexpr double coefficients[] = {COEFFICIENTS};
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count)
    return;
  double value = 0;
  for (int i = Terms - 1; i >= 0; --i)
    value = value * x[at] + coefficients[i];
  y[at] = value;
}

// --- small matrix products, one thread a row ----------------------------------------------------
__device__ void product(const float* a, const float* b, float* c, int order, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const int matrix = at / order, line = at % order;
  if (matrix >= count)
    return;
  const float* left = a + Size(matrix) * order * order + Size(line) * order;
  const float* right = b + Size(matrix) * order * order;
  for (int column = 0; column < order; ++column) {
    float sum = 0;
    for (int i = 0; i < order; ++i)
      sum += left[i] * right[i * order + column];
    c[Size(matrix) * order * order + Size(line) * order + column] = sum;
  }
}
template <int Order, int Count>
__global__ void productsOf(const float* a, const float* b, float* c) {
  product(a, b, c, Order, Count);
}

// --- forces over a neighbour list ---------------------------------------------------------------
struct Cell {
  float cutoff, strength;
  int neighbours, periodic;
};
__device__ float force(const float* x, const int* list, const Cell& cell, int count, int at) {
  float sum = 0;
  for (int i = 0; i < cell.neighbours; ++i) {
    float distance = x[list[Size(i) * count + at]] - x[at];
    if (cell.periodic)
      distance -= rintf(distance);
    const float square = distance * distance + 1e-6f;
    if (square < cell.cutoff * cell.cutoff)
      sum += cell.strength / (square * square) * distance;
  }
  return sum;
}
template <int Neighbours, int Count>
__global__ void forcesOf(const float* x, const int* list, float* out) {
  const Cell cell{.4f, 1.5f, Neighbours, 1};
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < Count)
    out[at] = force(x, list, cell, Count, at);
}
