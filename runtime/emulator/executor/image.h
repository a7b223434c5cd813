// Room emulator/executor: the loaded image behind executor.h. Internal.
#pragma once

#include <atomic>

#include "runtime/emulator/executor/executor.h"

namespace mneme::device::cpu {

class LoadedImage final : public Image {
public:
  explicit LoadedImage(std::span<const std::byte> elf);
  ~LoadedImage() override;
  LoadedImage(const LoadedImage&) = delete;
  LoadedImage& operator=(const LoadedImage&) = delete;

  const mneme_cpu_image_header& header() const noexcept override { return *header_; }
  void bindGlobal(size_t index, void* address) override;
  void initialiseGlobals(const std::vector<bool>& isFresh) override;

  /// Time of one block on one worker in the last launch; 0 before the first.
  std::atomic<uint64_t> lastBlockNs{0};

private:
  void open(std::span<const std::byte> elf);
  void checkHeader() const;

  void* handle_ = nullptr;
  const mneme_cpu_image_header* header_ = nullptr;
};

} // namespace mneme::device::cpu
