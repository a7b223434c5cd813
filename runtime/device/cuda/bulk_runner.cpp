#include "runtime/device/cuda/bulk_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/device/cuda/module_loader.h"

namespace mneme::device::cuda {

namespace {

constexpr size_t sourcesBytes = 256 << 10;
constexpr size_t firstLandingBytes = 64 << 10;
constexpr size_t maxLandingBytes = 4 << 20;
constexpr size_t firstScratchBytes = 1 << 20;

} // namespace

CudaBulkRunner::CudaBulkRunner(const Driver& driver, CUstream stream, uint32_t multiprocessors)
    : driver_(driver), stream_(stream), multiprocessors_(multiprocessors) {}

CudaBulkRunner::~CudaBulkRunner() { release(); }

void CudaBulkRunner::release() noexcept {
  const bool isUsed = modules_[0] || modules_[1] || sources_.data() || landing_.data() ||
                      scratch_.sizeBytes() > 0 || !outgrown_.empty();
  if (!isUsed)
    return;
  driver_.cuStreamSynchronize(stream_);
  for (size_t i = 0; i < std::size(modules_); ++i) {
    functions_[i].clear();
    if (modules_[i])
      driver_.cuModuleUnload(std::exchange(modules_[i], nullptr));
  }
  sources_ = PinnedBuffer();
  sourcesUsed_ = 0;
  landing_ = PinnedBuffer();
  scratch_ = DeviceRange();
  outgrown_.clear();
}

void CudaBulkRunner::abandon() noexcept {
  sources_.abandon();
  landing_.abandon();
  sources_ = PinnedBuffer();
  landing_ = PinnedBuffer();
  std::fill(std::begin(modules_), std::end(modules_), nullptr);
  outgrown_.push_back(std::move(scratch_));
  new std::vector<DeviceRange>(std::move(outgrown_)); // never destroyed
}

CUfunction CudaBulkRunner::function(BulkModule module, const char* kernel) {
  const auto index = static_cast<size_t>(module);
  if (!modules_[index])
    modules_[index] = loadModule(driver_, bulkPtx(module).data(), "loading the bulk operations");
  CUfunction& known = functions_[index][kernel];
  if (!known)
    check(driver_.cuModuleGetFunction(&known, modules_[index], kernel),
          "finding bulk operation '" + std::string(kernel) + "'");
  return known;
}

void CudaBulkRunner::launch(BulkModule module, const char* kernel, uint32_t blocks,
                            uint32_t threads, std::span<void* const> args) {
  const CUresult result =
      driver_.cuLaunchKernel(function(module, kernel), blocks, 1, 1, threads, 1, 1, 0, stream_,
                             const_cast<void**>(args.data()), nullptr);
  if (result != CUDA_SUCCESS)
    fail(result, "starting bulk operation '" + std::string(kernel) + "'");
}

void CudaBulkRunner::copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) {
  if (sizeBytes == 0)
    return;
  const char* what = "copying arguments of a bulk operation";
  if (sizeBytes > sourcesBytes) {
    check(driver_.cuMemcpyHtoDAsync(destination, source, sizeBytes, stream_), what);
    check(driver_.cuStreamSynchronize(stream_), what);
    sourcesUsed_ = 0;
    return;
  }
  if (!sources_.data())
    sources_ = PinnedBuffer(driver_, sourcesBytes);
  if (sizeBytes > sourcesBytes - sourcesUsed_) {
    check(driver_.cuStreamSynchronize(stream_), what);
    sourcesUsed_ = 0;
  }
  std::byte* slot = sources_.data() + sourcesUsed_;
  std::memcpy(slot, source, sizeBytes);
  sourcesUsed_ = std::min((sourcesUsed_ + sizeBytes + 63) / 64 * 64, sourcesBytes);
  check(driver_.cuMemcpyHtoDAsync(destination, slot, sizeBytes, stream_), what);
}

void CudaBulkRunner::copyToHost(void* destination, uint64_t source, size_t sizeBytes) {
  const char* what = "fetching the result of a bulk operation";
  if (sizeBytes > landing_.size() && landing_.size() < maxLandingBytes)
    landing_ = PinnedBuffer(
        driver_, std::clamp(std::bit_ceil(sizeBytes), firstLandingBytes, maxLandingBytes));
  auto* out = static_cast<std::byte*>(destination);
  while (sizeBytes > 0) {
    const size_t size = std::min(sizeBytes, landing_.size());
    check(driver_.cuMemcpyDtoHAsync(landing_.data(), source, size, stream_), what);
    check(driver_.cuStreamSynchronize(stream_), what);
    std::memcpy(out, landing_.data(), size);
    out += size;
    source += size;
    sizeBytes -= size;
  }
  sourcesUsed_ = 0; // everything before this is done
  outgrown_.clear();
}

void CudaBulkRunner::clear(uint64_t address, size_t sizeBytes) {
  if (sizeBytes > 0)
    check(driver_.cuMemsetD8Async(address, 0, sizeBytes, stream_), "clearing memory on the GPU");
}

void CudaBulkRunner::copyOnDevice(uint64_t destination, uint64_t source, size_t sizeBytes) {
  if (sizeBytes > 0)
    check(driver_.cuMemcpyDtoDAsync(destination, source, sizeBytes, stream_), "copying on the GPU");
}

uint64_t CudaBulkRunner::scratch(size_t sizeBytes) {
  if (sizeBytes <= scratch_.sizeBytes())
    return scratch_.address();
  CUdevice device = 0;
  check(driver_.cuCtxGetDevice(&device), "asking for the current GPU");
  DeviceRange larger =
      DeviceRange::allocate(driver_, device, std::bit_ceil(std::max(sizeBytes, firstScratchBytes)));
  outgrown_.push_back(std::move(scratch_));
  scratch_ = std::move(larger);
  return scratch_.address();
}

} // namespace mneme::device::cuda
