// Much live device memory, of which every launch changes a little: what recording costs there.
// Prints one JSON object: bandwidths of this machine, the wall time of every launch, a checksum.
// usage: large_memory [GiB=40] [launches=100] [noise bits=8] [percent changed=1] [host blocks=0]
// Noise bits say how much of each value is random: 0 compresses best, 40 hardly at all. Host blocks
// of 64 KiB are registered; pointers in device memory lead to every second one.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "common.h"

constexpr int kFields = 4;
constexpr int kThreads = 256;
constexpr size_t kChunkValues = 65536 / sizeof(double);

__host__ __device__ inline uint64_t mix(uint64_t value) {
  value ^= value >> 31;
  value *= 0x9E3779B97F4A7C15ull;
  value ^= value >> 29;
  value *= 0xBF58476D1CE4E5B9ull;
  return value ^ (value >> 32);
}

/// A smooth wave of twelve significant bits with `noiseBits` random bits behind them.
__device__ inline double sample(uint64_t index, int field, int step, int noiseBits) {
  const double x = static_cast<double>(index) * 1e-5 + field + 0.01 * step;
  const double wave = floor(2048.0 * (2.0 + sin(x) * cos(0.37 * x)));
  if (noiseBits == 0)
    return wave;
  const uint64_t random = mix(index * kFields + field + (static_cast<uint64_t>(step) << 44));
  const uint64_t kept = random >> (64 - noiseBits);
  return wave + static_cast<double>(kept) / static_cast<double>(1ull << noiseBits);
}

__global__ void fillField(double* values, uint64_t count, int field, int noiseBits) {
  const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    values[i] = sample(i, field, 0, noiseBits);
}

/// The kernel that is recorded: it changes `changed` values of every field, from `first` on.
__global__ void advance(double* a, double* b, double* c, double* d, uint64_t count, uint64_t first,
                        uint64_t changed, int step, int noiseBits) {
  double* const fields[kFields] = {a, b, c, d};
  const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < changed;
       i += stride)
#pragma unroll
    for (int field = 0; field < kFields; ++field) {
      const uint64_t index = (first + i + field * (count / kFields)) % count;
      fields[field][index] = sample(index, field, step, noiseBits);
    }
}

/// A sum over the bits of all values and their places: exact in any order, one read of the memory.
__global__ void addBits(const uint64_t* values, uint64_t count, unsigned long long* sum) {
  const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  uint64_t own = 0;
  for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    own += (values[i] >> 19 | values[i] << 45) * (2 * i + 1);
  atomicAdd(sum, static_cast<unsigned long long>(own));
}

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double secondsOf(auto&& action) {
  check(cudaDeviceSynchronize(), "synchronise");
  const double start = now();
  action();
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "synchronise");
  return now() - start;
}

/// Bytes per second from the device to pinned host memory, the best of three.
static double measurePinnedDownload(const double* device, size_t available) {
  const size_t bytes = std::min<size_t>(available, size_t{1} << 30);
  void* host = nullptr;
  check(cudaMallocHost(&host, bytes), "cudaMallocHost");
  double best = 1e30;
  for (int i = 0; i < 3; ++i)
    best = std::min(best, secondsOf([&] {
                      check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, nullptr),
                            "download");
                    }));
  check(cudaFreeHost(host), "cudaFreeHost");
  return static_cast<double>(bytes) / best;
}

struct Fields {
  double* values[kFields] = {};
  uint64_t count = 0; ///< of each
  unsigned long long* sum = nullptr;
  int blocks = 0;

  uint64_t bytes() const { return kFields * count * sizeof(double); }
  unsigned long long checksum() const {
    check(cudaMemset(sum, 0, sizeof *sum), "cudaMemset");
    for (double* field : values)
      addBits<<<blocks, kThreads>>>(reinterpret_cast<const uint64_t*>(field), count, sum);
    unsigned long long result = 0;
    check(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost), "copy the checksum");
    return result;
  }
};

static Fields makeFields(double gibibytes, int noiseBits) {
  Fields fields;
  const double values = gibibytes * (1ull << 30) / sizeof(double) / kFields;
  fields.count = std::max<uint64_t>(1, static_cast<uint64_t>(values) / kChunkValues) * kChunkValues;
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), "attribute");
  fields.blocks = 8 * multiprocessors;
  check(cudaMalloc(&fields.sum, sizeof *fields.sum), "cudaMalloc");
  for (int field = 0; field < kFields; ++field) {
    check(cudaMalloc(&fields.values[field], fields.count * sizeof(double)), "cudaMalloc");
    fillField<<<fields.blocks, kThreads>>>(fields.values[field], fields.count, field, noiseBits);
  }
  check(cudaDeviceSynchronize(), "fill");
  return fields;
}

/// Memory a recorder finds only by searching all other memory for pointers.
static void registerBlocks(int count) {
  std::vector<void*> reached;
  for (int i = 0; i < count; ++i) {
    void* block = std::aligned_alloc(65536, 65536);
    check(cudaHostRegister(block, 65536, cudaHostRegisterMapped), "cudaHostRegister");
    std::fill_n(static_cast<int*>(block), 65536 / sizeof(int), i);
    void* seen = nullptr;
    check(cudaHostGetDevicePointer(&seen, block, 0), "cudaHostGetDevicePointer");
    if (i % 2 == 0)
      reached.push_back(seen);
  }
  void** table = nullptr;
  if (reached.empty())
    return;
  check(cudaMalloc(&table, reached.size() * sizeof(void*)), "cudaMalloc");
  check(cudaMemcpy(table, reached.data(), reached.size() * sizeof(void*), cudaMemcpyHostToDevice),
        "copy the table");
}

int main(int argc, char** argv) {
  const double gibibytes = argc > 1 ? std::atof(argv[1]) : 40.0;
  const int launches = argc > 2 ? std::atoi(argv[2]) : 100;
  const int noiseBits = std::clamp(argc > 3 ? std::atoi(argv[3]) : 8, 0, 40);
  const double percent = argc > 4 ? std::atof(argv[4]) : 1.0;
  const int hostBlocks = argc > 5 ? std::atoi(argv[5]) : 0;
  const double started = now();

  const Fields fields = makeFields(gibibytes, noiseBits);
  const double filled = now();
  const double pinned = measurePinnedDownload(fields.values[0], fields.count * sizeof(double));
  fields.checksum();
  double reading = 1e30;
  for (int i = 0; i < 3; ++i)
    reading = std::min(reading, secondsOf([&] { fields.checksum(); }));

  registerBlocks(hostBlocks);
  const auto changed = static_cast<uint64_t>(static_cast<double>(fields.count) * percent / 100.0);
  std::vector<double> seconds;
  for (int step = 1; step <= launches; ++step) {
    // 37 and 100 have no common factor: a hundred launches visit every place once.
    const uint64_t first = static_cast<uint64_t>(step) * 37 % 100 * (fields.count / 100);
    seconds.push_back(secondsOf([&] {
      advance<<<fields.blocks, kThreads>>>(fields.values[0], fields.values[1], fields.values[2],
                                           fields.values[3], fields.count, first, changed, step,
                                           noiseBits);
    }));
  }
  const unsigned long long sum = fields.checksum();

  std::printf(
      "{\"live_bytes\": %llu, \"changed_bytes_per_launch\": %llu, \"noise_bits\": %d, "
      "\"fill_seconds\": %.6f, \"pinned_download_bytes_per_second\": %.6g, "
      "\"device_read_bytes_per_second\": %.6g, \"checksum\": \"%016llx\", \"launch_seconds\": [",
      static_cast<unsigned long long>(fields.bytes()),
      static_cast<unsigned long long>(kFields * changed * sizeof(double)), noiseBits,
      filled - started, pinned, static_cast<double>(fields.bytes()) / reading, sum);
  for (size_t i = 0; i < seconds.size(); ++i)
    std::printf("%s%.6f", i == 0 ? "" : ", ", seconds[i]);
  // The monotonic clock of the whole machine: how long the process goes on is seen from outside.
  std::printf("], \"main_started\": %.6f, \"main_ended\": %.6f}\n", started, now());
  return 0;
}
