#include "runtime/devices/gpu/gpu_copies.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "runtime/core/base/error.h"

namespace mneme::device::gpu {

namespace {

constexpr size_t pieceBytes = 2 << 20; ///< one slot; 40 µs of bus time
/// Below this the driver's own pageable copy is over before memory of ours would be pinned.
constexpr size_t directBytes = 512 << 10;
/// One host thread copies about 10 GB/s, the bus takes 55.
constexpr size_t bytesPerLane = 16 << 20;
constexpr size_t maxLanes = 8;

class PinnedStaging final : public StagingBuffer {
public:
  PinnedStaging(Context& context, size_t sizeBytes)
      : context_(context), buffer_(context.shared(), sizeBytes) {}
  ~PinnedStaging() override {
    if (!context_.whenFreeing([this] { buffer_ = PinnedBuffer(); }))
      buffer_.abandon();
  }
  std::span<std::byte> bytes() override { return {buffer_.data(), buffer_.size()}; }

private:
  Context& context_;
  PinnedBuffer buffer_;
};

} // namespace

Copies::~Copies() {
  if (context_.isHung()) {
    // Destroying these would wait for the kernel.
    new std::vector<Lane>(std::move(lanes_));
    new std::deque<Started>(std::move(started_));
    new std::vector<Event>(std::move(spareEvents_));
    return;
  }
  context_.whenFreeing([this] {
    context_.shared().waitForStream(context_.stream());
    lanes_.clear();
    started_.clear();
    spareEvents_.clear();
  });
}

void Copies::toHost(void* destination, uint64_t source, size_t sizeBytes) {
  run({static_cast<std::byte*>(destination), source, sizeBytes, false},
      "copying from the GPU to the host");
}

void Copies::toDevice(uint64_t destination, const void* source, size_t sizeBytes) {
  run({static_cast<std::byte*>(const_cast<void*>(source)), destination, sizeBytes, true},
      "copying from the host to the GPU");
}

void Copies::run(const Transfer& transfer, const char* what) {
  if (transfer.sizeBytes == 0)
    return;
  context_.requireUsable();
  const Driver& driver = context_.shared();
  const ContextScope scope = context_.use();
  const size_t wanted =
      std::clamp<size_t>(transfer.sizeBytes / bytesPerLane, 1,
                         std::clamp<size_t>(std::thread::hardware_concurrency(), 1, maxLanes));
  const size_t count = transfer.sizeBytes < directBytes ? 0 : lanes(wanted);
  if (count == 0) {
    const Status result = transfer.isUpload
                              ? driver.copyToDevice(transfer.device, transfer.host,
                                                    transfer.sizeBytes, context_.stream())
                              : driver.copyToHost(transfer.host, transfer.device,
                                                  transfer.sizeBytes, context_.stream());
    context_.check(result, what);
    context_.check(driver.waitForStream(context_.stream()), what);
    return;
  }
  std::vector<Status> results(count, kSuccess);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < count; ++i)
      threads.emplace_back([&, i] { results[i] = runLane(lanes_[i], transfer, i, count); });
    results[0] = runLane(lanes_[0], transfer, 0, count);
  }
  results.push_back(driver.waitForStream(context_.stream()));
  for (const Status result : results)
    context_.check(result, what);
}

size_t Copies::lanes(size_t wanted) {
  const Driver& driver = context_.shared();
  while (lanes_.size() < wanted) {
    try {
      Lane lane;
      lane.memory = PinnedBuffer(driver, 2 * pieceBytes);
      for (Event& event : lane.isFree)
        event = Event(driver, kUntimedEvent);
      lanes_.push_back(std::move(lane));
    } catch (const Error&) {
      context_.probe();
      context_.requireUsable();
      break;
    }
  }
  return std::min(wanted, lanes_.size());
}

Status Copies::runLane(Lane& lane, const Transfer& transfer, size_t firstPiece, size_t step) {
  const Driver& driver = context_.shared();
  ContextHandle before = nullptr;
  Status result = driver.enter(context_.raw(), &before);
  if (result != kSuccess)
    return result;
  result = transfer.isUpload ? uploadPieces(lane, transfer, firstPiece, step)
                             : downloadPieces(lane, transfer, firstPiece, step);
  driver.leave(before);
  return result;
}

Status Copies::uploadPieces(Lane& lane, const Transfer& transfer, size_t firstPiece, size_t step) {
  const Driver& driver = context_.shared();
  size_t turn = 0;
  for (size_t offset = firstPiece * pieceBytes; offset < transfer.sizeBytes;
       offset += step * pieceBytes, ++turn) {
    const EventHandle isFree = lane.isFree[turn % 2].raw();
    std::byte* slot = lane.memory.data() + turn % 2 * pieceBytes;
    const size_t size = std::min(pieceBytes, transfer.sizeBytes - offset);
    // An event that was never recorded counts as complete; run() leaves none pending.
    Status result = turn < 2 ? kSuccess : driver.waitForEvent(isFree);
    if (result != kSuccess)
      return result;
    std::memcpy(slot, transfer.host + offset, size);
    result = driver.copyToDevice(transfer.device + offset, slot, size, context_.stream());
    if (result == kSuccess)
      result = driver.recordEvent(isFree, context_.stream());
    if (result != kSuccess)
      return result;
  }
  return kSuccess;
}

Status Copies::downloadPieces(Lane& lane, const Transfer& transfer, size_t firstPiece,
                              size_t step) {
  const Driver& driver = context_.shared();
  const size_t pieces = (transfer.sizeBytes + pieceBytes - 1) / pieceBytes;
  const size_t turns = firstPiece < pieces ? (pieces - firstPiece + step - 1) / step : 0;
  const auto offsetOf = [&](size_t turn) { return (firstPiece + turn * step) * pieceBytes; };
  const auto sizeOf = [&](size_t turn) {
    return std::min(pieceBytes, transfer.sizeBytes - offsetOf(turn));
  };
  const auto fetch = [&](size_t turn) {
    const Status result =
        driver.copyToHost(lane.memory.data() + turn % 2 * pieceBytes,
                          transfer.device + offsetOf(turn), sizeOf(turn), context_.stream());
    return result != kSuccess ? result
                              : driver.recordEvent(lane.isFree[turn % 2].raw(), context_.stream());
  };
  Status result = kSuccess;
  for (size_t turn = 0; turn < std::min<size_t>(turns, 2) && result == kSuccess; ++turn)
    result = fetch(turn);
  for (size_t turn = 0; turn < turns && result == kSuccess; ++turn) {
    result = driver.waitForEvent(lane.isFree[turn % 2].raw());
    if (result != kSuccess)
      break;
    std::memcpy(transfer.host + offsetOf(turn), lane.memory.data() + turn % 2 * pieceBytes,
                sizeOf(turn));
    if (turn + 2 < turns)
      result = fetch(turn + 2);
  }
  return result;
}

std::unique_ptr<StagingBuffer> Copies::makeStaging(size_t sizeBytes) {
  context_.requireUsable();
  const ContextScope scope = context_.use();
  return std::make_unique<PinnedStaging>(context_, sizeBytes);
}

uint64_t Copies::start(uint64_t destination, StagingBuffer& source, size_t sizeBytes) {
  if (sizeBytes > source.bytes().size())
    throw Error(ErrorCode::InvalidArgument, "a copy of " + std::to_string(sizeBytes) +
                                                " bytes from staging memory of " +
                                                std::to_string(source.bytes().size()));
  context_.requireUsable();
  const char* what = "copying from the host to the GPU";
  const Driver& driver = context_.shared();
  const ContextScope scope = context_.use();
  Started copy;
  if (spareEvents_.empty()) {
    copy.event = Event(driver, kUntimedEvent);
  } else {
    copy.event = std::move(spareEvents_.back());
    spareEvents_.pop_back();
  }
  if (sizeBytes > 0)
    context_.check(
        driver.copyToDevice(destination, source.bytes().data(), sizeBytes, context_.stream()),
        what);
  context_.check(driver.recordEvent(copy.event.raw(), context_.stream()), what);
  copy.ticket = ++lastTicket_;
  started_.push_back(std::move(copy));
  return lastTicket_;
}

void Copies::wait(uint64_t ticket) {
  while (!started_.empty() && started_.front().ticket <= ticket) {
    if (started_.front().ticket == ticket || started_.size() == 1 || started_[1].ticket > ticket) {
      context_.requireUsable();
      const ContextScope scope = context_.use();
      context_.check(context_.shared().waitForEvent(started_.front().event.raw()),
                     "copying from the host to the GPU");
    }
    spareEvents_.push_back(std::move(started_.front().event));
    started_.pop_front();
  }
}

} // namespace mneme::device::gpu
