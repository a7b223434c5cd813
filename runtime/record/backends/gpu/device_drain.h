// Room record: takes the content of device memory to the host behind the application's back.
//
// What is to be kept is first copied inside the device, at the speed of its memory, into memory the
// application does not use; the application goes on while threads of ours move that copy over the
// bus. Where the device has no room for it, the content crosses the bus before take() returns.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/device/bulk/bulk.h"
#include "runtime/record/backends/gpu/copy_team.h"
#include "runtime/record/slab.h"

namespace mneme::record::gpu {

/// A piece of device memory to be kept.
struct DrainPiece {
  uint64_t address = 0;
  uint32_t sizeBytes = 0;
};

struct Drained {
  /// In the order asked for. The bytes arrive later: whoever reads them waits for afterwards().
  std::vector<std::span<const std::byte>> pieces;
  std::vector<Slab> slabs; ///< what keeps them alive; a piece lies in one slab
};

/// One device of the application, in its own context. One thread at a time calls take().
class DeviceDrain {
public:
  /// The context must outlive the drain, and so must the stream, on which small pieces are copied.
  DeviceDrain(const Side& side, StreamHandle stream);
  ~DeviceDrain(); ///< everything taken has arrived, or failed
  DeviceDrain(const DeviceDrain&) = delete;
  DeviceDrain& operator=(const DeviceDrain&) = delete;

  /// Takes what the pieces hold now: on return the application may write to them again. `bulk`
  /// works on a stream that `synchronise` waits for. The context is current in the calling thread.
  /// \throws Error{DeviceFailed, OutOfMemory}
  Drained take(std::span<const DrainPiece> pieces, device::BulkOperations& bulk,
               const std::function<void()>& synchronise);

  /// Calls `action` on a thread of ours once everything taken before has arrived, with the first
  /// failure since the action before, or null. Actions run in order and must not throw.
  void afterwards(std::function<void(std::exception_ptr)> action);

  /// Waits until no device memory is held any more; true if some was held. For an allocation of the
  /// application that found none left.
  bool giveBack() noexcept;
  /// Waits until every action has run.
  void finish() noexcept;

private:
  struct Shadow;
  struct Job {
    std::shared_ptr<Shadow> shadow;
    std::vector<CopyTask> tasks;
    std::vector<Slab> slabs;
    std::function<void(std::exception_ptr)> action;
  };
  std::shared_ptr<Shadow> makeShadow(uint64_t sizeBytes);
  std::shared_ptr<Shadow> waitForShadow(uint64_t sizeBytes);
  void push(Job job);
  void run();

  Side side_;
  StreamHandle stream_;
  CopyTeam team_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  uint64_t heldBytes_ = 0; ///< of device memory
  bool isWorking_ = false;
  bool isStopped_ = false;
  std::thread thread_;
};

} // namespace mneme::record::gpu
