// A collection of kernels of linear algebra and of neural networks, in float and in double.
// usage: dense_kernels [ELEMENTS [EDGE]]     floats in a vector; rows and columns of matrices of
// them
#include "collection.h"

__device__ inline long globalIndex() { return long(blockIdx.x) * blockDim.x + threadIdx.x; }

template <typename Real>
__global__ void triad(Real* a, const Real* b, const Real* c, Real s, long n) {
  const long i = globalIndex();
  if (i < n)
    a[i] = b[i] + s * c[i];
}

template <typename Real>
__global__ void clampScale(Real* y, const Real* x, Real low, Real s, long n) {
  for (long i = globalIndex(); i < n; i += long(gridDim.x) * blockDim.x)
    y[i] = s * (x[i] > low ? x[i] - low : Real(0));
}

template <typename Real> __global__ void gelu(Real* y, const Real* x, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  const Real v = x[i];
  y[i] = Real(0.5) * v * (1 + tanh(Real(0.7978845608) * (v + Real(0.044715) * v * v * v)));
}

template <typename Real> __global__ void swish(Real* y, const Real* x, Real beta, long n) {
  const long i = globalIndex();
  if (i < n)
    y[i] = x[i] / (1 + exp(-beta * x[i]));
}

template <typename Real>
__global__ void adam(Real* value, Real* mean, Real* variance, const Real* gradient, Real rate,
                     long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  const Real g = gradient[i];
  mean[i] = Real(0.9) * mean[i] + Real(0.1) * g;
  variance[i] = Real(0.999) * variance[i] + Real(0.001) * g * g;
  value[i] -= rate * mean[i] / (sqrt(variance[i]) + Real(1e-8));
}

/// A block for each row.
template <typename Real> __global__ void softmax(Real* y, const Real* x, int width) {
  __shared__ Real part[kThreads];
  const Real* row = x + long(blockIdx.x) * width;
  Real largest = row[0];
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    largest = max(largest, row[i]);
  part[threadIdx.x] = largest;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      part[threadIdx.x] = max(part[threadIdx.x], part[threadIdx.x + half]);
  }
  __syncthreads();
  largest = part[0];
  __syncthreads();
  Real sum = 0;
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    sum += exp(row[i] - largest);
  part[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    y[long(blockIdx.x) * width + i] = exp(row[i] - largest) / part[0];
}

template <typename Real> __device__ Real warpSum(Real value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

/// A warp for each row.
template <typename Real>
__global__ void layerNorm(Real* y, const Real* x, Real scale, int rows, int width) {
  const long row = globalIndex() / 32;
  if (row >= rows)
    return;
  const Real* in = x + row * width;
  Real sum = 0, square = 0;
  for (int i = threadIdx.x % 32; i < width; i += 32) {
    sum += in[i];
    square += in[i] * in[i];
  }
  const Real mean = warpSum(sum) / width;
  const Real factor = scale / sqrt(warpSum(square) / width - mean * mean + Real(1e-5));
  for (int i = threadIdx.x % 32; i < width; i += 32)
    y[row * width + i] = (in[i] - mean) * factor;
}

template <typename Real> __global__ void dot(Real* partial, const Real* x, const Real* y, long n) {
  __shared__ Real part[kThreads];
  Real own = 0;
  for (long i = globalIndex(); i < n; i += long(gridDim.x) * blockDim.x)
    own += x[i] * y[i];
  part[threadIdx.x] = own;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    partial[blockIdx.x] = part[0];
}

/// Where a warp's largest number is.
template <typename Real> __global__ void largest(int* place, const Real* x, long n) {
  Real best = -1;
  int at = 0;
  for (long i = globalIndex(); i < n; i += long(gridDim.x) * blockDim.x)
    if (x[i] > best) {
      best = x[i];
      at = int(i);
    }
  for (int offset = 16; offset > 0; offset /= 2) {
    const Real other = __shfl_down_sync(0xffffffffu, best, offset);
    const int otherAt = __shfl_down_sync(0xffffffffu, at, offset);
    if (other > best || (other == best && otherAt < at)) {
      best = other;
      at = otherAt;
    }
  }
  if (threadIdx.x % 32 == 0)
    place[globalIndex() / 32] = at;
}

template <typename Real>
__global__ void gemvRows(Real* y, const Real* a, const Real* x, int rows, int columns) {
  const long row = globalIndex() / 32;
  if (row >= rows)
    return;
  Real sum = 0;
  for (int k = threadIdx.x % 32; k < columns; k += 32)
    sum += a[row * columns + k] * x[k];
  sum = warpSum(sum);
  if (threadIdx.x % 32 == 0)
    y[row] = sum;
}

/// A sum for each column and each part of `rows` rows.
template <typename Real>
__global__ void gemvColumns(Real* y, const Real* a, const Real* x, int rows, int columns) {
  const int column = int(globalIndex()), first = blockIdx.y * rows;
  if (column >= columns)
    return;
  Real sum = 0;
  for (int row = first; row < first + rows; ++row)
    sum += a[long(row) * columns + column] * x[row];
  y[blockIdx.y * columns + column] = sum;
}

template <typename Real> __global__ void gemmPlain(Real* c, const Real* a, const Real* b, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n)
    return;
  Real sum = 0;
  for (int k = 0; k < n; ++k)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

/// n is a multiple of 16.
template <typename Real> __global__ void gemmTiled(Real* c, const Real* a, const Real* b, int n) {
  __shared__ Real left[16][16], right[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  Real sum = 0;
  for (int begin = 0; begin < n; begin += 16) {
    left[y][x] = a[row * n + begin + x];
    right[y][x] = b[(begin + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += left[y][k] * right[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

/// Four by four elements for each thread; n is a multiple of 64.
template <typename Real> __global__ void gemmBlocked(Real* c, const Real* a, const Real* b, int n) {
  __shared__ Real left[16][64], right[16][64];
  const int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
  Real sum[4][4] = {};
  for (int begin = 0; begin < n; begin += 16) {
    for (int part = thread; part < 1024; part += 256) {
      left[part % 16][part / 16] = a[(blockIdx.y * 64 + part / 16) * n + begin + part % 16];
      right[part / 64][part % 64] = b[(begin + part / 64) * n + blockIdx.x * 64 + part % 64];
    }
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          sum[i][j] += left[k][y * 4 + i] * right[k][x * 4 + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      c[(blockIdx.y * 64 + y * 4 + i) * n + blockIdx.x * 64 + x * 4 + j] = sum[i][j];
}

/// The lower half of a * a^T.
template <typename Real> __global__ void rankUpdate(Real* c, const Real* a, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column > row)
    return;
  Real sum = c[row * n + column];
  for (int k = 0; k < n; ++k)
    sum += a[row * n + k] * a[column * n + k];
  c[row * n + column] = sum;
}

template <typename Real> __global__ void transposePlain(Real* out, const Real* in, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n)
    out[long(x) * n + y] = in[long(y) * n + x];
}

/// n is a multiple of 32; a block has 32 by 8 threads.
template <typename Real> __global__ void transposeTiled(Real* out, const Real* in, int n) {
  __shared__ Real tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int row = 0; row < 32; row += 8)
    tile[threadIdx.y + row][threadIdx.x] = in[long(y + row) * n + x];
  __syncthreads();
  const int toX = blockIdx.y * 32 + threadIdx.x, toY = blockIdx.x * 32 + threadIdx.y;
  for (int row = 0; row < 32; row += 8)
    out[long(toY + row) * n + toX] = tile[threadIdx.x][threadIdx.y + row];
}

template <typename Real>
__global__ void outerProduct(Real* a, const Real* x, const Real* y, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && column < n)
    a[long(row) * n + column] += x[row] * y[column];
}

/// A system of Size unknowns for each thread, interleaved; Gaussian elimination.
template <typename Real, int Size>
__global__ void solveSmall(Real* x, const Real* a, const Real* b, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  Real m[Size][Size + 1];
  for (int row = 0; row < Size; ++row) {
    for (int column = 0; column < Size; ++column)
      m[row][column] =
          a[(row * Size + column) * n + i] + (row == column ? Real(Size * 2) : Real(0));
    m[row][Size] = b[row * n + i];
  }
  for (int pivot = 0; pivot < Size; ++pivot)
    for (int row = pivot + 1; row < Size; ++row) {
      const Real factor = m[row][pivot] / m[pivot][pivot];
      for (int column = pivot; column <= Size; ++column)
        m[row][column] -= factor * m[pivot][column];
    }
  for (int row = Size - 1; row >= 0; --row) {
    Real sum = m[row][Size];
    for (int column = row + 1; column < Size; ++column)
      sum -= m[row][column] * m[column][Size];
    m[row][Size] = sum / m[row][row];
    x[row * n + i] = m[row][Size];
  }
}

/// A matrix of six by six for each thread.
template <typename Real> __global__ void choleskySmall(Real* l, const Real* a, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  Real m[6][6];
  for (int row = 0; row < 6; ++row)
    for (int column = 0; column <= row; ++column) {
      Real sum = a[(row * 6 + column) * n + i] + (row == column ? Real(12) : Real(0));
      for (int k = 0; k < column; ++k)
        sum -= m[row][k] * m[column][k];
      m[row][column] = row == column ? sqrt(sum) : sum / m[column][column];
      l[(row * 6 + column) * n + i] = m[row][column];
    }
}

/// The eigenvalues of a symmetric matrix of three by three for each thread, by rotations.
template <typename Real>
__global__ void eigenvalues(Real* out, const Real* in, int sweeps, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  Real d[3] = {in[i], in[n + i] + 1, in[2 * n + i] + 2},
       off[3] = {in[3 * n + i], in[4 * n + i], in[5 * n + i]};
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (int pair = 0; pair < 3; ++pair) {
      const int p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2;
      const Real theta = (d[q] - d[p]) / (2 * off[pair] + Real(1e-20));
      const Real t = (theta < 0 ? Real(-1) : Real(1)) / (fabs(theta) + sqrt(theta * theta + 1));
      const Real c = 1 / sqrt(t * t + 1), s = t * c;
      d[p] -= t * off[pair];
      d[q] += t * off[pair];
      off[pair] = 0;
      const int first = pair == 0 ? 1 : 0, second = pair == 2 ? 1 : 2;
      const Real one = off[first], two = off[second];
      off[first] = c * one - s * two;
      off[second] = s * one + c * two;
    }
  for (int k = 0; k < 3; ++k)
    out[k * n + i] = d[k];
}

template <typename Real>
__global__ void convolve(Real* y, const Real* x, const Real* taps, int count, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  Real sum = 0;
  for (int k = 0; k < count; ++k)
    sum += taps[k] * x[min(i + k, n - 1)];
  y[i] = sum;
}

template <typename Real>
__global__ void filter5(Real* out, const Real* in, const Real* weight, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n)
    return;
  Real sum = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) {
      const int atX = min(max(x + dx, 0), n - 1), atY = min(max(y + dy, 0), n - 1);
      sum += weight[(dy + 2) * 5 + dx + 2] * in[long(atY) * n + atX];
    }
  out[long(y) * n + x] = sum;
}

template <typename Real> __global__ void maxPool(Real* out, const Real* in, int half) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= half || y >= half)
    return;
  const Real* at = in + long(2 * y) * 2 * half + 2 * x;
  out[long(y) * half + x] = max(max(at[0], at[1]), max(at[2 * half], at[2 * half + 1]));
}

template <typename Real> __global__ void horner(Real* y, const Real* x, int degree, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  Real value = 0;
  for (int k = degree; k >= 0; --k)
    value = value * x[i] + Real(1) / (k + 1);
  y[i] = value;
}

template <typename Real> struct Complex {
  Real re, im;
};

template <typename Real>
__global__ void multiplyComplex(Complex<Real>* c, const Complex<Real>* a, const Complex<Real>* b,
                                long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  const Complex<Real> x = a[i], y = b[i];
  c[i] = {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/// Eight numbers for each thread.
template <typename Real>
__global__ void fourier8(Complex<Real>* out, const Complex<Real>* in, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  Complex<Real> own[8];
  for (int k = 0; k < 8; ++k)
    own[k] = in[k * n + i];
  for (int frequency = 0; frequency < 8; ++frequency) {
    Complex<Real> sum{0, 0};
    const Real angle = Real(-0.78539816339745) * frequency;
    const Complex<Real> turn{cos(angle), sin(angle)};
    Complex<Real> factor{1, 0};
    for (int k = 0; k < 8; ++k) {
      sum.re += own[k].re * factor.re - own[k].im * factor.im;
      sum.im += own[k].re * factor.im + own[k].im * factor.re;
      factor = {factor.re * turn.re - factor.im * turn.im,
                factor.re * turn.im + factor.im * turn.re};
    }
    out[frequency * n + i] = sum;
  }
}

/// One stage of a transform in place.
template <typename Real> __global__ void butterfly(Complex<Real>* data, long half, long n) {
  const long i = globalIndex();
  if (i >= n / 2)
    return;
  const long group = i / half, place = i % half, first = group * 2 * half + place;
  const Real angle = Real(-3.14159265358979) * Real(place) / Real(half);
  const Real c = cos(angle), s = sin(angle);
  const Complex<Real> a = data[first], b = data[first + half];
  const Complex<Real> turned{b.re * c - b.im * s, b.re * s + b.im * c};
  data[first] = {a.re + turned.re, a.im + turned.im};
  data[first + half] = {a.re - turned.re, a.im - turned.im};
}

template <typename Real> void vectors(long n) {
  const unsigned blocks = blocksFor(n);
  const Array<Real> x(n, 1), y(n, 2), z(n, 3), w(n, 4);
  const Array<int> places(132 * 8 * 8, 5, 8);
  const Array<Real> partial(132 * 8, 6), taps(64, 7);
  triad<Real><<<blocks, kThreads>>>(z, x, y, Real(1.5), n), z.show("triad");
  clampScale<Real><<<132 * 8, kThreads>>>(z, x, Real(0.3), Real(2), n), z.show("clampScale");
  gelu<Real><<<blocks, kThreads>>>(z, x, n), z.show("gelu");
  swish<Real><<<blocks, kThreads>>>(z, x, Real(1.1), n), z.show("swish");
  adam<Real><<<blocks, kThreads>>>(z, x, y, w, Real(0.01), n), z.show("adam");
  softmax<Real><<<unsigned(n / 1024), kThreads>>>(z, x, 1024), z.show("softmax");
  layerNorm<Real><<<blocksFor(n / 512 * 32), kThreads>>>(z, x, Real(2), int(n / 512), 512),
      z.show("layerNorm");
  dot<Real><<<132 * 8, kThreads>>>(partial, x, y, n), partial.show("dot");
  largest<Real><<<132 * 8, kThreads>>>(places, x, n), places.show("largest");
  convolve<Real><<<blocks, kThreads>>>(z, x, taps, 31, n), z.show("convolve");
  horner<Real><<<blocks, kThreads>>>(z, x, 8, n), z.show("horner");
}

template <typename Real> void manySmall(long n) {
  const Array<Real> in(n, 1), out(n, 2), right(n, 3);
  const auto* const a = reinterpret_cast<Complex<Real>*>(static_cast<Real*>(in));
  const auto* const b = reinterpret_cast<Complex<Real>*>(static_cast<Real*>(right));
  auto* const c = reinterpret_cast<Complex<Real>*>(static_cast<Real*>(out));
  solveSmall<Real, 4><<<blocksFor(n / 16, 128), 128>>>(out, in, right, n / 16), out.show("solve4");
  solveSmall<Real, 8><<<blocksFor(n / 64, 128), 128>>>(out, in, right, n / 64), out.show("solve8");
  choleskySmall<Real><<<blocksFor(n / 36, 128), 128>>>(out, in, n / 36), out.show("cholesky");
  eigenvalues<Real><<<blocksFor(n / 8), kThreads>>>(out, in, 3, n / 8), out.show("eigenvalues");
  multiplyComplex<Real><<<blocksFor(n / 2), kThreads>>>(c, a, b, n / 2),
      out.show("multiplyComplex");
  fourier8<Real><<<blocksFor(n / 16), kThreads>>>(c, a, n / 16), out.show("fourier8");
  butterfly<Real><<<blocksFor(n / 4), kThreads>>>(c, n / 16, n / 2), out.show("butterfly");
}

/// Images, and products of matrices of a fifth of their edge.
template <typename Real> void matrices(int edge) {
  const long n = long(edge) * edge;
  const Array<Real> in(n, 1), out(n, 2), x(edge, 3), y(edge, 4);
  const dim3 block(32, 8), grid(blocksFor(edge, 32), blocksFor(edge, 8)),
      square(edge / 32, edge / 32);
  gemvRows<Real><<<blocksFor(long(edge) * 32), kThreads>>>(y, in, x, edge, edge),
      y.show("gemvRows");
  gemvColumns<Real><<<dim3(edge / 256, 16), 256>>>(out, in, x, edge / 16, edge),
      out.show("gemvColumns");
  transposePlain<Real><<<grid, block>>>(out, in, edge), out.show("transposePlain");
  transposeTiled<Real><<<square, block>>>(out, in, edge), out.show("transposeTiled");
  outerProduct<Real><<<grid, block>>>(out, x, y, edge), out.show("outerProduct");
  filter5<Real><<<grid, block>>>(out, in, x, edge), out.show("filter5");
  maxPool<Real><<<grid, block>>>(out, in, edge / 2), out.show("maxPool");

  const int size = std::max(64, edge * 3 / 16 / 64 * 64), half = size / 2;
  const dim3 tile(16, 16), tiles(size / 16, size / 16), large(size / 64, size / 64);
  const long elements = long(size) * size;
  const Array<Real> a(elements, 5), b(elements, 6), c(elements, 7);
  gemmPlain<Real><<<tiles, tile>>>(c, a, b, size), c.show("gemmPlain");
  gemmTiled<Real><<<tiles, tile>>>(c, a, b, size), c.show("gemmTiled");
  gemmBlocked<Real><<<large, tile>>>(c, a, b, size), c.show("gemmBlocked");
  rankUpdate<Real><<<dim3(half / 16, half / 16), tile>>>(c, a, half), c.show("rankUpdate");
}

int main(int argc, char** argv) {
  const long elements = argc > 1 ? std::atol(argv[1]) : 1 << 16;
  const int edge = argc > 2 ? std::atoi(argv[2]) : 256;
  if (elements < 4096 || edge < 256 || edge % 256) {
    std::fprintf(stderr,
                 "usage: dense_kernels [ELEMENTS, at least 4096 [EDGE, a multiple of 256]]\n");
    return 2;
  }
  // Numbers twice as large, and about half as many.
  vectors<float>(elements), vectors<double>(elements / 2);
  manySmall<float>(elements), manySmall<double>(elements / 2);
  matrices<float>(edge), matrices<double>(std::max(256, edge * 3 / 4 / 256 * 256));
}
