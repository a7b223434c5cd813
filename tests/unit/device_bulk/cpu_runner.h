// Runs the bulk kernels of GPUs on the CPU device: device addresses are host addresses.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/devices/bulk/bulk.h"
#include "runtime/emulator/executor/executor.h"

namespace test {

using mneme::device::BulkModule;

/// LLVM bitcode of the kernels of a module.
std::vector<std::byte> bitcodeOf(BulkModule module);

class CpuRunner final : public mneme::device::BulkRunner {
public:
  void launch(BulkModule module, const char* kernel, uint32_t blocks, uint32_t threads,
              std::span<void* const> args) override {
    mneme::device::LaunchShape shape;
    shape.grid[0] = blocks;
    shape.block[0] = threads;
    const auto outcome = mneme::device::cpu::run(*imageOf(module, kernel), shape, args.data(), 300);
    REQUIRE_MESSAGE(outcome.fault == mneme::device::cpu::FaultKind::None, outcome.message);
    ++launches;
  }
  void copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) override {
    memcpy(reinterpret_cast<void*>(destination), source, sizeBytes);
    lastTableBytes = sizeBytes;
  }
  void copyToHost(void* destination, uint64_t source, size_t sizeBytes) override {
    memcpy(destination, reinterpret_cast<const void*>(source), sizeBytes);
  }
  void clear(uint64_t address, size_t sizeBytes) override {
    memset(reinterpret_cast<void*>(address), 0, sizeBytes);
  }
  void copyOnDevice(uint64_t destination, uint64_t source, size_t sizeBytes) override {
    memcpy(reinterpret_cast<void*>(destination), reinterpret_cast<const void*>(source), sizeBytes);
  }
  uint64_t scratch(size_t sizeBytes) override {
    memory_.assign(sizeBytes / 16 + 1, {0xabababababababab, 0xabababababababab});
    return reinterpret_cast<uint64_t>(memory_.data());
  }
  uint32_t multiprocessors() const override { return 1; }

  size_t launches = 0;
  size_t lastTableBytes = 0; ///< of the last copy to the device

private:
  struct alignas(16) Unit {
    uint64_t low, high;
  };

  mneme::device::cpu::Image* imageOf(BulkModule module, const std::string& kernel) {
    auto& image = images()[kernel];
    if (!image) {
      mneme::compile::Request request;
      request.modules.push_back(bitcodeOf(module));
      request.kernel = kernel;
      image = mneme::device::cpu::Image::load(mneme::compile::compile(request).image);
      bindGlobals(*image, kernel);
    }
    return image.get();
  }

  static void bindGlobals(mneme::device::cpu::Image& image, const std::string& kernel) {
    std::vector<bool> fresh;
    auto& storage = globals()[kernel];
    for (size_t index = 0; index < image.header().globalCount; ++index) {
      storage.emplace_back(image.header().globals[index].sizeBytes / 8 + 1);
      fresh.push_back(true);
      image.bindGlobal(index, storage.back().data());
    }
    image.initialiseGlobals(fresh);
  }

  static std::map<std::string, std::unique_ptr<mneme::device::cpu::Image>>& images() {
    static std::map<std::string, std::unique_ptr<mneme::device::cpu::Image>> all;
    return all;
  }
  static std::map<std::string, std::vector<std::vector<uint64_t>>>& globals() {
    static std::map<std::string, std::vector<std::vector<uint64_t>>> all;
    return all;
  }

  std::vector<Unit> memory_;
};

} // namespace test
