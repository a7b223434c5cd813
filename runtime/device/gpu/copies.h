// Room device/gpu: copies between pageable host memory and the GPU through pinned memory, host
// copying and bus transfer overlapped.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/device/gpu/context.h"
#include "runtime/device/gpu/pinned.h"

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
  /// What one copying thread owns: two slots, one filled while the other is on the bus.
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
  /// Makes lanes until there are `wanted`; fewer when host memory cannot be pinned.
  size_t lanes(size_t wanted);

  Context& context_;
  std::vector<Lane> lanes_;
  std::deque<Started> started_; ///< oldest first
  std::vector<Event> spareEvents_;
  uint64_t lastTicket_ = 0;
};

} // namespace mneme::device::gpu
