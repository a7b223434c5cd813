// Room emulator/executor: the CPU as a Device. Its device addresses are addresses of this process.
#pragma once

#include "runtime/devices/device.h"
#include "runtime/emulator/executor/cpu_description.h"
#include "runtime/emulator/executor/cpu_memory.h"

namespace mneme::device::cpu {

class CpuDevice final : public Device {
public:
  const Description& description() const override;
  Description descriptionFor(const std::string& arch) const override {
    return cpu::descriptionFor(arch);
  }
  uint64_t granularity() const override { return AddressSpace::granularity; }
  uint64_t reserve(uint64_t address, uint64_t sizeBytes) override;
  void release(uint64_t address, uint64_t sizeBytes) noexcept override;
  void map(uint64_t address, uint64_t sizeBytes) override;
  void unmap(uint64_t address, uint64_t sizeBytes) noexcept override;
  uint64_t guardPageBytes() const override { return kGuardPageBytes; }
  void mapGuard(uint64_t address, uint64_t sizeBytes) override;
  void copyToHost(void* destination, uint64_t source, size_t sizeBytes) override;
  void copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) override;
  void hashPages(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes,
                 std::span<Hash128> hashes) override;
  std::vector<uint64_t> diffPages(uint64_t first, uint64_t second, uint64_t sizeBytes,
                                  uint64_t pageBytes) override;
  void restore(std::span<const CopyRange> ranges) override;
  void resetHeap() override;
  std::vector<CompareReport> compare(std::span<const CompareRequest> requests) override;
  std::unique_ptr<Module> load(std::span<const std::byte> image, const std::string& kernel,
                               std::span<const GlobalPlacement> placements) override;
  uint64_t launch(Module& module, const LaunchShape& shape, void* const* args,
                  double timeoutSeconds) override;
  bool isUsable() const override { return true; }
  std::optional<uint64_t> memoryLeft() override;
  void flushCaches() override;
  const char* timerName() const override { return "host clock"; }

private:
  AddressSpace space_;
  std::vector<uint64_t> evictor_; ///< of flushCaches()
};

} // namespace mneme::device::cpu
