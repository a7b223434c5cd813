// Room device/cuda: an NVIDIA GPU as a Device.
#pragma once

#include <optional>

#include "runtime/device/cuda/address_space.h"
#include "runtime/device/cuda/bulk_runner.h"
#include "runtime/device/cuda/context.h"
#include "runtime/device/cuda/copies.h"
#include "runtime/device/cuda/cupti.h"
#include "runtime/device/device.h"

namespace mneme::device::cuda {

/// After an error that takes the context (illegal address, trap, kernel that never ends) the device
/// is not usable any more; another process can use the GPU. Destruction never waits for a kernel.
class CudaDevice final : public Device {
public:
  /// \throws Error{BackendUnavailable} naming what is missing
  explicit CudaDevice(int ordinal);
  ~CudaDevice() override;

  const Description& description() const override { return description_; }
  uint64_t granularity() const override { return space_.granularity(); }
  uint64_t reserve(uint64_t address, uint64_t sizeBytes) override;
  void release(uint64_t address, uint64_t sizeBytes) noexcept override;
  void map(uint64_t address, uint64_t sizeBytes) override;
  void unmap(uint64_t address, uint64_t sizeBytes) noexcept override;
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
  std::unique_ptr<Module> load(std::span<const std::byte> image, const std::string& kernel,
                               std::span<const GlobalPlacement> placements) override;
  bool placesGlobalsOnLoad() const override { return false; }
  uint64_t launch(Module& module, const LaunchShape& shape, void* const* args,
                  double timeoutSeconds) override;
  bool isUsable() const override { return context_.isUsable(); }
  void flushCaches() override;
  const char* timerName() const override;

private:
  class RestoreFromTable;
  template <typename Action> auto bulk(const Action& action);
  void requireAccess(std::span<const CopyRange> ranges) const;
  void waitForKernel(const std::string& kernel, double timeoutSeconds);
  uint64_t elapsedNs(const LaunchShape& shape);

  /// Null when times come from events. Started before the context, to be there from its beginning.
  Cupti* cupti_;
  Context context_;
  Description description_;
  AddressSpace space_;
  Copies copies_;
  CudaBulkRunner runner_;
  BulkOperations operations_;
  Event start_;
  Event end_;
  DeviceRange evictor_; ///< of flushCaches()
  unsigned char evictorValue_ = 0;
};

} // namespace mneme::device::cuda
