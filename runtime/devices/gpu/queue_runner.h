// Room devices/gpu: runs the bulk operations' kernels. Needs a context and a stream, nothing of a
// Device: the recorder uses it inside an application's primary context.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/devices/bulk/bulk.h"
#include "runtime/devices/gpu/device_range.h"
#include "runtime/devices/gpu/gpu_bulk_code.h"
#include "runtime/devices/gpu/pinned.h"

namespace mneme::device::gpu {

/// The context must be current for every call, and for destruction
/// unless release() was the last one. Not thread-safe. Modules,
/// scratch and pinned memory are made when first needed.
class QueueRunner final : public BulkRunner {
public:
  /// Neither the context nor the stream is owned; all must outlive the runner.
  QueueRunner(const Driver& driver, const BulkCode& code, StreamHandle stream,
              uint32_t multiprocessors);
  QueueRunner(const QueueRunner&) = delete;
  QueueRunner& operator=(const QueueRunner&) = delete;
  ~QueueRunner() override;
  /// Goes on in another stream. Nothing may have been started in the former.
  void use(StreamHandle stream, uint32_t multiprocessors) noexcept {
    stream_ = stream;
    multiprocessors_ = multiprocessors;
  }
  /// Waits for what was started and gives everything back; what is needed later is made again.
  void release() noexcept;
  /// Forgets everything without freeing it: the GPU hangs, or the context is gone already.
  void abandon() noexcept;

  /// \throws Error{CompileFailed} with the assembler's log, and as Driver::raise(); all of these
  void launch(BulkModule module, const char* kernel, uint32_t blocks, uint32_t threads,
              std::span<void* const> args) override;
  void copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) override;
  void copyToHost(void* destination, uint64_t source, size_t sizeBytes) override;
  void clear(uint64_t address, size_t sizeBytes) override;
  void copyOnDevice(uint64_t destination, uint64_t source, size_t sizeBytes) override;
  uint64_t scratch(size_t sizeBytes) override;
  uint32_t multiprocessors() const override { return multiprocessors_; }

private:
  FunctionHandle function(BulkModule module, const char* kernel);

  const Driver& driver_;
  const BulkCode& code_;
  StreamHandle stream_;
  uint32_t multiprocessors_;
  std::unordered_map<std::string, ModuleHandle> modules_;     ///< by BulkCode::imageWith()
  std::unordered_map<std::string, FunctionHandle> functions_; ///< by kernel
  /// Sources of started copies; filled from the front, waited for when full.
  PinnedBuffer sources_;
  size_t sourcesUsed_ = 0;
  PinnedBuffer landing_; ///< where copies to the host arrive
  DeviceRange scratch_;
  std::vector<DeviceRange> outgrown_; ///< scratch that started operations may still use
};

} // namespace mneme::device::gpu
