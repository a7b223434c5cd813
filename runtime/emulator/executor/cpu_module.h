// Room emulator/executor: an image with its globals placed. Internal.
#pragma once

#include "runtime/devices/device.h"
#include "runtime/emulator/executor/cpu_memory.h"
#include "runtime/emulator/executor/executor.h"

namespace mneme::device::cpu {

class CpuModule final : public Module {
public:
  CpuModule(const AddressSpace& space, std::span<const std::byte> image,
            std::span<const GlobalPlacement> placements);

  std::vector<ModuleGlobal> globals() const override;
  KernelAttributes attributes() const override;
  std::optional<std::vector<uint64_t>> argumentSizes() const override;

  Image& image() noexcept { return *image_; }

private:
  struct Storage {
    void operator()(void* pointer) const noexcept;
  };
  void* allocate(const mneme_cpu_global& global);

  std::unique_ptr<Image> image_;
  std::vector<std::unique_ptr<void, Storage>> storage_;
  std::vector<uint64_t> addresses_; ///< by number of the global
};

} // namespace mneme::device::cpu
