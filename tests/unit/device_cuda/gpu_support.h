// What the tests on a real GPU share. Without one each of them passes at once, and the first says
// why.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "runtime/core/base/error.h"
#include "runtime/devices/device.h"

namespace test {

/// The first GPU; null, with the reason on stdout, when there is none.
std::unique_ptr<mneme::device::Device> openGpu();

/// What this program prints when it runs only the (skipped) test of that name in a process of its
/// own, with its exit status on the last line.
std::string outputOfChild(const std::string& test, const std::string& variable,
                          const std::string& value);

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline mneme::device::LaunchShape shapeOf(uint32_t blocks, uint32_t threads) {
  mneme::device::LaunchShape shape;
  shape.grid[0] = blocks;
  shape.block[0] = threads;
  return shape;
}

inline std::unique_ptr<mneme::device::Module>
load(mneme::device::Device& device, const std::string& ptx, const std::string& kernel) {
  return device.load(std::as_bytes(std::span(ptx)), kernel, {});
}

inline std::string messageOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const mneme::Error& failure) {
    return std::string(mneme::errorCodeName(failure.code())) + ": " + failure.what();
  }
  return "no error";
}

inline double secondsFor(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Mapped memory of a device.
struct Memory {
  Memory(mneme::device::Device& device, uint64_t sizeBytes)
      : device_(device), sizeBytes_(sizeBytes), address(device.reserve(0, sizeBytes)) {
    device.map(address, sizeBytes);
  }
  Memory(const Memory&) = delete;
  ~Memory() {
    device_.unmap(address, sizeBytes_);
    device_.release(address, sizeBytes_);
  }

private:
  mneme::device::Device& device_;
  uint64_t sizeBytes_;

public:
  uint64_t address;
};

/// Kernels for any GPU since Volta: empty, fill(out, factor), needShared(out), together(counter),
/// illegal, trap, hang(flag), hello.
extern const std::string kernels;
/// clusterSize(out), for GPUs with clusters.
extern const std::string clusterKernels;

} // namespace test
