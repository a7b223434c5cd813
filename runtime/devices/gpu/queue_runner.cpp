#include "runtime/devices/gpu/queue_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/core/base/error.h"

namespace mneme::device::gpu {

namespace {

constexpr size_t sourcesBytes = 256 << 10;
constexpr size_t firstLandingBytes = 64 << 10;
constexpr size_t maxLandingBytes = 4 << 20;
constexpr size_t firstScratchBytes = 1 << 20;

} // namespace

QueueRunner::QueueRunner(const Driver& driver, const BulkCode& code, StreamHandle stream,
                         uint32_t multiprocessors)
    : driver_(driver), code_(code), stream_(stream), multiprocessors_(multiprocessors) {}

QueueRunner::~QueueRunner() { release(); }

void QueueRunner::release() noexcept {
  const bool isUsed = !modules_.empty() || sources_.data() || landing_.data() ||
                      scratch_.sizeBytes() > 0 || !outgrown_.empty();
  if (!isUsed)
    return;
  driver_.waitForStream(stream_);
  functions_.clear();
  for (const auto& [name, module] : std::exchange(modules_, {}))
    if (module)
      driver_.unloadModule(module);
  sources_ = PinnedBuffer();
  sourcesUsed_ = 0;
  landing_ = PinnedBuffer();
  scratch_ = DeviceRange();
  outgrown_.clear();
}

void QueueRunner::abandon() noexcept {
  sources_.abandon();
  landing_.abandon();
  sources_ = PinnedBuffer();
  landing_ = PinnedBuffer();
  functions_.clear();
  modules_.clear();
  outgrown_.push_back(std::move(scratch_));
  new std::vector<DeviceRange>(std::move(outgrown_)); // never destroyed
}

FunctionHandle QueueRunner::function(BulkModule module, const char* kernel) {
  FunctionHandle& known = functions_[kernel];
  if (known)
    return known;
  ModuleHandle& image = modules_[code_.imageWith(module, kernel)];
  if (!image)
    image = code_.load(module, kernel);
  driver_.require(driver_.functionIn(&known, image, kernel),
                  "finding bulk operation '" + std::string(kernel) + "'");
  return known;
}

void QueueRunner::launch(BulkModule module, const char* kernel, uint32_t blocks, uint32_t threads,
                         std::span<void* const> args) {
  const Status result =
      driver_.startKernel(function(module, kernel), blocks, threads, stream_, args.data());
  if (result != kSuccess)
    driver_.raise(result, "starting bulk operation '" + std::string(kernel) + "'");
}

void QueueRunner::copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) {
  if (sizeBytes == 0)
    return;
  const char* what = "copying arguments of a bulk operation";
  if (sizeBytes > sourcesBytes) {
    driver_.require(driver_.copyToDevice(destination, source, sizeBytes, stream_), what);
    driver_.require(driver_.waitForStream(stream_), what);
    sourcesUsed_ = 0;
    return;
  }
  if (!sources_.data())
    sources_ = PinnedBuffer(driver_, sourcesBytes);
  if (sizeBytes > sourcesBytes - sourcesUsed_) {
    driver_.require(driver_.waitForStream(stream_), what);
    sourcesUsed_ = 0;
  }
  std::byte* slot = sources_.data() + sourcesUsed_;
  std::memcpy(slot, source, sizeBytes);
  sourcesUsed_ = std::min((sourcesUsed_ + sizeBytes + 63) / 64 * 64, sourcesBytes);
  driver_.require(driver_.copyToDevice(destination, slot, sizeBytes, stream_), what);
}

void QueueRunner::copyToHost(void* destination, uint64_t source, size_t sizeBytes) {
  const char* what = "fetching the result of a bulk operation";
  if (sizeBytes > landing_.size() && landing_.size() < maxLandingBytes)
    landing_ = PinnedBuffer(
        driver_, std::clamp(std::bit_ceil(sizeBytes), firstLandingBytes, maxLandingBytes));
  auto* out = static_cast<std::byte*>(destination);
  while (sizeBytes > 0) {
    const size_t size = std::min(sizeBytes, landing_.size());
    driver_.require(driver_.copyToHost(landing_.data(), source, size, stream_), what);
    driver_.require(driver_.waitForStream(stream_), what);
    std::memcpy(out, landing_.data(), size);
    out += size;
    source += size;
    sizeBytes -= size;
  }
  sourcesUsed_ = 0; // everything before this is done
  outgrown_.clear();
}

void QueueRunner::clear(uint64_t address, size_t sizeBytes) {
  if (sizeBytes > 0)
    driver_.require(driver_.fill(address, 0, sizeBytes, stream_), "clearing memory on the GPU");
}

void QueueRunner::copyOnDevice(uint64_t destination, uint64_t source, size_t sizeBytes) {
  if (sizeBytes > 0)
    driver_.require(driver_.copyOnDevice(destination, source, sizeBytes, stream_),
                    "copying on the GPU");
}

uint64_t QueueRunner::scratch(size_t sizeBytes) {
  if (sizeBytes <= scratch_.sizeBytes())
    return scratch_.address();
  int device = 0;
  driver_.require(driver_.currentDevice(&device), "asking for the current GPU");
  DeviceRange larger =
      DeviceRange::allocate(driver_, device, std::bit_ceil(std::max(sizeBytes, firstScratchBytes)));
  outgrown_.push_back(std::move(scratch_));
  scratch_ = std::move(larger);
  return scratch_.address();
}

} // namespace mneme::device::gpu
