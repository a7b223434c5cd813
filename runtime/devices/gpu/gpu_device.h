// Room devices/gpu: the parts of a Device that GPUs of all vendors share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/devices/device.h"
#include "runtime/devices/gpu/address_space.h"
#include "runtime/devices/gpu/gpu_context.h"
#include "runtime/devices/gpu/gpu_copies.h"
#include "runtime/devices/gpu/loaded_kernel.h"
#include "runtime/devices/gpu/queue_runner.h"

namespace mneme::device::gpu {

/// After an error that destroys the context (illegal address, trap, kernel that never ends) the
/// device is no longer usable; another process can use the GPU. Destruction never waits for a
/// kernel.
class GpuDevice : public Device {
public:
  ~GpuDevice() override;

  const Description& description() const override { return description_; }
  uint64_t granularity() const override { return space_.granularity(); }
  uint64_t reserve(uint64_t address, uint64_t sizeBytes) override;
  void release(uint64_t address, uint64_t sizeBytes) noexcept override;
  void map(uint64_t address, uint64_t sizeBytes) override;
  void unmap(uint64_t address, uint64_t sizeBytes) noexcept override;
  uint64_t guardPageBytes() const override { return space_.guardPageBytes(); }
  void mapGuard(uint64_t address, uint64_t sizeBytes) override {
    space_.mapGuard(address, sizeBytes);
  }
  void copyToHost(void* destination, uint64_t source, size_t sizeBytes) override;
  void copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) override;
  std::unique_ptr<StagingBuffer> makeStaging(size_t sizeBytes) override;
  uint64_t startCopyToDevice(uint64_t destination, StagingBuffer& source,
                             size_t sizeBytes) override;
  void waitForCopy(uint64_t ticket) override;
  void hashPages(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes,
                 std::span<Hash128> hashes) override;
  std::vector<uint64_t> diffPages(uint64_t first, uint64_t second, uint64_t sizeBytes,
                                  uint64_t pageBytes) override;
  void restore(std::span<const CopyRange> ranges) override;
  std::unique_ptr<PreparedRestore> prepareRestore(std::vector<CopyRange> ranges) override;
  std::vector<CompareReport> compare(std::span<const CompareRequest> requests) override;
  bool placesGlobalsOnLoad() const override { return false; }
  uint64_t launch(Module& module, const LaunchShape& shape, void* const* args,
                  double timeoutSeconds) override;
  bool isUsable() const override { return context_->isUsable(); }
  std::optional<uint64_t> memoryLeft() override;
  void flushCaches() override;
  const char* timerName() const override { return "events"; }

protected:
  GpuDevice(std::unique_ptr<Context> context, const BulkCode& code,
            Description (*describe)(int device));

  /// Checks whether the kernel can run in this shape and prepares it; stores an accepted shape in
  /// `module.accepted`. The context is current for this and startLaunch().
  /// \throws Error{InvalidArgument} with the exact numbers when it cannot
  virtual void prepareLaunch(LoadedKernel& module, const LaunchShape& shape) = 0;
  /// Queues the kernel. \throws Error{InvalidArgument} when the driver refuses
  virtual void startLaunch(const LoadedKernel& module, const LaunchShape& shape,
                           void* const* args) = 0;
  /// Queues the kernel between the two events of elapsedNs(); as startLaunch().
  virtual void startTimedLaunch(const LoadedKernel& module, const LaunchShape& shape,
                                void* const* args);
  /// Returns the time that the last kernel took.
  virtual uint64_t elapsedNs(const LaunchShape& shape);
  /// Waits until `end_` has passed. \throws as launch()
  void waitForKernel(const std::string& kernel, double timeoutSeconds);
  /// Says that the heap is there. The vendor's copies do not take its addresses; kernels do.
  void useHeap(const AddressRange& heap) { heap_ = heap; }
  /// Says that the context's stream is another one, with so many multiprocessors.
  void streamChanged(uint32_t multiprocessors);
  /// Returns the total size of all caches between kernels and memory.
  virtual uint64_t cacheBytes() const { return description_.l2CacheBytes; }

  std::unique_ptr<Context> context_;
  Description description_;
  Event start_;
  Event end_;

private:
  class RestoreFromTable;
  template <typename Action> auto bulk(const Action& action);
  void requireAccess(std::span<const CopyRange> ranges) const;
  bool isOnHeap(uint64_t address) const noexcept { return address - heap_.begin < heap_.sizeBytes; }
  uint64_t detour(uint64_t sizeBytes);
  void copyFromDetour(uint64_t destination, uint64_t source, uint64_t sizeBytes);

  AddressSpace space_;
  Copies copies_;
  QueueRunner runner_;
  BulkOperations operations_;
  DeviceRange evictor_; ///< of flushCaches()
  AddressRange heap_;
  DeviceRange detour_; ///< copies to and from the heap go through it
  unsigned char evictorValue_ = 0;
};

} // namespace mneme::device::gpu
