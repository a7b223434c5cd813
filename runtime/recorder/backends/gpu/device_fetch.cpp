#include "runtime/recorder/backends/gpu/device_fetch.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace mneme::record::gpu {
namespace {

using device::gpu::Event;
using device::gpu::kUntimedEvent;
using device::gpu::PinnedBuffer;

constexpr size_t kStagingBytes = 4ull << 20;

} // namespace

/// Device memory through two pinned buffers: while one is filled the other is emptied.
void DeviceFetch::read(std::byte* destination, uint64_t source, uint64_t sizeBytes) {
  const char* what = "copying device memory to the host";
  const size_t half = std::clamp<size_t>(std::bit_ceil(sizeBytes), 256 << 10, kStagingBytes);
  for (size_t index = 0; index < 2; ++index)
    if (staging_[index].size() < half) {
      if (!staged_[index].raw())
        staged_[index] = Event(driver_, kUntimedEvent);
      staging_[index] = PinnedBuffer(driver_, half);
    }
  const size_t step = std::min(staging_[0].size(), staging_[1].size());
  const auto start = [&](uint64_t at, size_t index) {
    driver_.require(driver_.copyToHost(staging_[index].data(), source + at,
                                       std::min<uint64_t>(step, sizeBytes - at), stream_),
                    what);
    driver_.require(driver_.recordEvent(staged_[index].raw(), stream_), what);
  };
  if (sizeBytes > 0)
    start(0, 0);
  for (uint64_t at = 0, index = 0; at < sizeBytes; at += step, index ^= 1) {
    if (at + step < sizeBytes)
      start(at + step, index ^ 1);
    driver_.require(driver_.waitForEvent(staged_[index].raw()), what);
    std::memcpy(destination + at, staging_[index].data(), std::min<uint64_t>(step, sizeBytes - at));
  }
}

} // namespace mneme::record::gpu
