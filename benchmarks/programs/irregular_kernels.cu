// A collection of kernels on integers, lists and graphs.
// usage: irregular_kernels [ELEMENTS]
#include "collection.h"

__device__ inline long globalIndex() { return long(blockIdx.x) * blockDim.x + threadIdx.x; }

__global__ void histogram(unsigned* counts, const unsigned* in, long n) {
  __shared__ unsigned own[kThreads];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (long i = globalIndex(); i < n; i += long(gridDim.x) * blockDim.x)
    atomicAdd(&own[in[i] % kThreads], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

/// Sums before each element, within a block.
__global__ void scanBlocks(unsigned* out, const unsigned* in, long n) {
  __shared__ unsigned part[2][kThreads];
  const long i = globalIndex();
  int from = 0;
  part[from][threadIdx.x] = i < n ? in[i] : 0;
  for (int offset = 1; offset < kThreads; offset *= 2) {
    __syncthreads();
    const unsigned own = part[from][threadIdx.x];
    const unsigned other = int(threadIdx.x) >= offset ? part[from][threadIdx.x - offset] : 0;
    part[1 - from][threadIdx.x] = own + other;
    from = 1 - from;
  }
  if (i < n)
    out[i] = part[from][threadIdx.x];
}

/// How often each digit is in a block's part.
__global__ void countDigits(unsigned* counts, const unsigned* in, int shift, long n) {
  __shared__ unsigned sums[16];
  if (threadIdx.x < 16)
    sums[threadIdx.x] = 0;
  __syncthreads();
  unsigned own[16] = {};
  for (long i = globalIndex(); i < n; i += long(gridDim.x) * blockDim.x)
    for (unsigned digit = 0; digit < 16; ++digit)
      own[digit] += ((in[i] >> shift) & 15) == digit;
  for (int digit = 0; digit < 16; ++digit)
    atomicAdd(&sums[digit], own[digit]);
  __syncthreads();
  if (threadIdx.x < 16)
    counts[threadIdx.x * gridDim.x + blockIdx.x] = sums[threadIdx.x];
}

__global__ void bitonicStep(unsigned* data, unsigned distance, unsigned length, long n) {
  const long i = globalIndex(), other = i ^ distance;
  if (other <= i || other >= n)
    return;
  const unsigned first = data[i], second = data[other];
  if ((first > second) == ((i & length) == 0)) {
    data[i] = second;
    data[other] = first;
  }
}

__global__ void searchSorted(int* place, const unsigned* sorted, const unsigned* wanted,
                             long length, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  long low = 0, high = length;
  while (low < high) {
    const long middle = (low + high) / 2;
    if (sorted[middle] < wanted[i])
      low = middle + 1;
    else
      high = middle;
  }
  place[i] = int(low);
}

__global__ void probeTable(unsigned* found, const unsigned* keys, const unsigned* wanted,
                           unsigned mask, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  unsigned slot = mixed(wanted[i]) & mask, tries = 0;
  while (keys[slot] != wanted[i] && ++tries < 8)
    slot = (slot + 1) & mask;
  found[i] = tries < 8 ? slot : ~0u;
}

__global__ void hashBlocks(unsigned* out, const unsigned* in, int words, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  unsigned hash = 0x9747b28cu;
  for (int k = 0; k < words; ++k) {
    const unsigned key = in[k * n + i] * 0xcc9e2d51u;
    hash ^= ((key << 15) | (key >> 17)) * 0x1b873593u;
    hash = ((hash << 13) | (hash >> 19)) * 5 + 0xe6546b64u;
  }
  out[i] = mixed(hash);
}

__constant__ unsigned checksumTable[256];

__global__ void checksums(unsigned* out, const unsigned* in, int words, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  unsigned sum = ~0u;
  for (int k = 0; k < words; ++k)
    for (unsigned byte = 0, word = in [k * n + i]; byte < 4; ++byte, word >>= 8)
      sum = checksumTable[(sum ^ word) & 255] ^ (sum >> 8);
  out[i] = ~sum;
}

__global__ void gather(unsigned* out, const unsigned* in, const int* place, long n) {
  const long i = globalIndex();
  if (i < n)
    out[i] = in[place[i]];
}

/// n is a power of two and `factor` odd, so every place is written once.
__global__ void scatter(unsigned* out, const unsigned* in, unsigned factor, long n) {
  const long i = globalIndex();
  if (i < n)
    out[(unsigned(i) * factor) & unsigned(n - 1)] = in[i];
}

template <typename Real>
__global__ void multiplyRows(Real* y, const Real* value, const int* column, const Real* x,
                             int length, long rows) {
  const long row = globalIndex() / 32;
  if (row >= rows)
    return;
  Real sum = 0;
  for (int k = threadIdx.x % 32; k < length; k += 32)
    sum += value[row * length + k] * x[column[row * length + k]];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0)
    y[row] = sum;
}

/// A matrix with as many entries in each row, column by column.
template <typename Real>
__global__ void multiplyColumns(Real* y, const Real* value, const int* column, const Real* x,
                                int length, long rows) {
  const long row = globalIndex();
  if (row >= rows)
    return;
  Real sum = 0;
  for (int k = 0; k < length; ++k)
    sum += value[k * rows + row] * x[column[k * rows + row]];
  y[row] = sum;
}

/// Vertices that are not known yet are of the next level if they are beside one of this level.
__global__ void breadthFirst(int* next, const int* level, const int* neighbour, int now, int degree,
                             long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  int own = level[i];
  bool isFound = own <= now;
  for (int k = 0; !isFound && k < degree; ++k)
    isFound = level[neighbour[k * n + i]] == now;
  if (own > now)
    own = isFound ? now + 1 : now + 2;
  next[i] = own;
}

__global__ void pageRank(float* next, const float* rank, const int* from, int degree, float damping,
                         long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  float sum = 0;
  for (int k = 0; k < degree; ++k)
    sum += rank[from[k * n + i]] / degree;
  next[i] = (1 - damping) / n + damping * sum;
}

/// Bits that sets of 32 numbers have in common with as many others.
__global__ void commonBits(int* best, const unsigned* sets, int others, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  int most = 0;
  for (int k = 1; k <= others; ++k)
    most = max(most, __popc(sets[i] & sets[i + k < n ? i + k : i + k - n]));
  best[i] = most;
}

__global__ void encrypt(uint2* data, uint4 key, long n) {
  const long i = globalIndex();
  if (i >= n)
    return;
  unsigned v0 = data[i].x, v1 = data[i].y, sum = 0;
  for (int round = 0; round < 32; ++round) {
    sum += 0x9e3779b9u;
    v0 += ((v1 << 4) + key.x) ^ (v1 + sum) ^ ((v1 >> 5) + key.y);
    v1 += ((v0 << 4) + key.z) ^ (v0 + sum) ^ ((v0 >> 5) + key.w);
  }
  data[i] = {v0, v1};
}

void lists(long n) {
  const unsigned blocks = blocksFor(n), few = 132 * 8;
  const Array<unsigned> in(n, 1), out(n, 2), wanted(n, 3), counts(16 * few, 4, 1);
  histogram<<<few, kThreads>>>(counts, in, n), counts.show("histogram");
  scanBlocks<<<blocks, kThreads>>>(out, in, n), out.show("scanBlocks");
  countDigits<<<few, kThreads>>>(counts, in, 8, n), counts.show("countDigits");
  bitonicStep<<<blocks, kThreads>>>(out, 1 << 10, 1 << 12, n), out.show("bitonicStep");
  hashBlocks<<<blocksFor(n / 8), kThreads>>>(out, in, 8, n / 8), out.show("hashBlocks");
  checksums<<<blocksFor(n / 8), kThreads>>>(out, in, 8, n / 8), out.show("checksums");
  scatter<<<blocksFor(n / 2), kThreads>>>(out, in, 0x9e3779b1u, n / 2), out.show("scatter");
  commonBits<<<blocks, kThreads>>>(reinterpret_cast<int*>(static_cast<unsigned*>(out)), in, 16, n);
  out.show("commonBits");
  encrypt<<<blocks, kThreads>>>(reinterpret_cast<uint2*>(static_cast<unsigned*>(out)), {1, 2, 3, 4},
                                n / 2);
  out.show("encrypt");
  std::vector<unsigned> rising(n / 8);
  for (size_t i = 0; i < rising.size(); ++i)
    rising[i] = unsigned(i) * (0xffffffffu / unsigned(rising.size()));
  const Array<unsigned> sorted(rising);
  const Array<int> places(n / 8, 5, 1);
  searchSorted<<<blocksFor(n / 8), kThreads>>>(places, sorted, wanted, n / 8, n / 8),
      places.show("searchSorted");
  probeTable<<<blocksFor(n / 2), kThreads>>>(out, in, wanted, unsigned(n / 2 - 1), n / 2),
      out.show("probeTable");
}

void graphs(long n) {
  const long vertices = n / 8;
  const Array<int> other(n, 1, unsigned(vertices)), level(vertices, 2, 3), next(vertices, 3, 2);
  const Array<float> rank(vertices, 4), value(n, 5), out(vertices, 6);
  const Array<double> wide(n, 7), x(vertices, 8), y(vertices, 9);
  const Array<unsigned> in(n, 10), to(n, 11);
  gather<<<blocksFor(n), kThreads>>>(to, in, other, n), to.show("gather");
  breadthFirst<<<blocksFor(vertices), kThreads>>>(next, level, other, 1, 8, vertices),
      next.show("breadthFirst");
  pageRank<<<blocksFor(vertices), kThreads>>>(out, rank, other, 8, 0.85f, vertices),
      out.show("pageRank");
  multiplyRows<float><<<blocksFor(n / 64 * 32), kThreads>>>(out, value, other, rank, 64, n / 64),
      out.show("rowsF");
  multiplyRows<double><<<blocksFor(n / 64 * 32), kThreads>>>(y, wide, other, x, 64, n / 64),
      y.show("rowsD");
  multiplyColumns<float><<<blocksFor(vertices), kThreads>>>(out, value, other, rank, 8, vertices);
  out.show("columnsF");
  multiplyColumns<double><<<blocksFor(vertices), kThreads>>>(y, wide, other, x, 8, vertices),
      y.show("columnsD");
}

int main(int argc, char** argv) {
  const long elements = argc > 1 ? std::atol(argv[1]) : 1 << 16;
  if (elements < 1 << 14 || (elements & (elements - 1))) {
    std::fprintf(stderr, "usage: irregular_kernels [ELEMENTS, a power of two, 16384 or more]\n");
    return 2;
  }
  std::vector<unsigned> table(256);
  for (unsigned i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit)
      table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0xedb88320u : 0u);
  }
  check(cudaMemcpyToSymbol(checksumTable, table.data(), sizeof checksumTable), "checksumTable");
  lists(elements);
  graphs(elements);
}
