// Room devices/gpu: copies between pageable host memory and the GPU through pinned memory. Copying
// on the host and transfers on the bus overlap.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/devices/device.h"
#include "runtime/devices/gpu/gpu_context.h"
#include "runtime/devices/gpu/pinned.h"

namespace mneme::device::gpu {

/// All copies are in order with the context's stream. Not thread-safe.
class Copies {
public:
  explicit Copies(Context& context) : context_(context) {}
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  ~Copies();

  /// As the functions of the same names in Device.
  void toHost(void* destination, uint64_t source, size_t sizeBytes);
  void toDevice(uint64_t destination, const void* source, size_t sizeBytes);
  std::unique_ptr<StagingBuffer> makeStaging(size_t sizeBytes);
  uint64_t start(uint64_t destination, StagingBuffer& source, size_t sizeBytes);
  void wait(uint64_t ticket);

private:
  /// The two slots of one copying thread: one is filled while the other is transferred.
  struct Lane {
    PinnedBuffer memory;
    Event isFree[2];
  };
  struct Transfer {
    std::byte* host = nullptr;
    uint64_t device = 0;
    size_t sizeBytes = 0;
    bool isUpload = false;
  };
  struct Started {
    uint64_t ticket = 0;
    Event event;
  };

  void run(const Transfer& transfer, const char* what);
  Status runLane(Lane& lane, const Transfer& transfer, size_t firstPiece, size_t step);
  Status uploadPieces(Lane& lane, const Transfer& transfer, size_t firstPiece, size_t step);
  Status downloadPieces(Lane& lane, const Transfer& transfer, size_t firstPiece, size_t step);
  /// Makes lanes until there are `wanted`, or fewer if host memory cannot be pinned.
  size_t lanes(size_t wanted);

  Context& context_;
  std::vector<Lane> lanes_;
  std::deque<Started> started_; ///< oldest first
  std::vector<Event> spareEvents_;
  uint64_t lastTicket_ = 0;
};

} // namespace mneme::device::gpu
