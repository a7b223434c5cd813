// Room recorder: copies the content of device memory to the host in the background.
//
// The content is first copied within the device, at the speed of its memory, to memory that the
// application does not use. The application continues while mneme's threads move that copy over the
// bus. If the device has no room for it, the content crosses the bus before take() returns.
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

#include "runtime/devices/bulk/bulk.h"
#include "runtime/recorder/backends/gpu/copy_team.h"
#include "runtime/recorder/slab.h"

namespace mneme::record::gpu {

/// A piece of device memory to copy.
struct DrainPiece {
  uint64_t address = 0;
  uint32_t sizeBytes = 0;
  bool startsRegion = true; ///< drivers refuse a copy from one allocation into the next
};

struct Drained {
  /// In the requested order. The bytes arrive later: wait for afterwards() before reading them.
  std::vector<std::span<const std::byte>> pieces;
  std::vector<Slab> slabs; ///< own the bytes; each piece lies in one slab
};

/// Serves one device of the application, in the application's own context. Only one thread at a
/// time may call take().
class DeviceDrain {
public:
  /// The context must outlive the drain, and so must the stream, on which small pieces are copied.
  DeviceDrain(const Side& side, StreamHandle stream);
  ~DeviceDrain(); ///< waits until everything taken has arrived or failed
  DeviceDrain(const DeviceDrain&) = delete;
  DeviceDrain& operator=(const DeviceDrain&) = delete;

  /// Copies the current content of the pieces; after it returns, the application may write to them
  /// again. `bulk` works on a stream that `synchronise` waits for. The context must be current in
  /// the calling thread.
  /// \throws Error{DeviceFailed, OutOfMemory}
  Drained take(std::span<const DrainPiece> pieces, device::BulkOperations& bulk,
               const std::function<void()>& synchronise);

  /// Calls `action` on one of mneme's threads once everything taken before has arrived. Passes the
  /// first failure since the previous action, or null. Actions run in order and must not throw.
  void afterwards(std::function<void(std::exception_ptr)> action);

  /// Waits until no device memory is held any more; returns true if some was held. Called when an
  /// allocation of the application found no memory left.
  bool giveBack() noexcept;
  /// Waits until all actions have run.
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
