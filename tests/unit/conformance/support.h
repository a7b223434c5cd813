// Conformance: the device all cases run on, memory on it, and kernels for it.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/base/error.h"
#include "runtime/devices/device.h"

namespace conformance {

using mneme::Error;
using mneme::ErrorCode;
using mneme::device::Device;

/// The device under test; main() opens it.
Device& theDevice();
std::string theDeviceName();
/// Whether kernels for the device are AMD's.
bool isForAmd(const Device& device);
void setDevice(std::unique_ptr<Device> device);

/// The code of the error that `action` throws, Ok if none.
ErrorCode codeOf(const std::function<void()>& action);

/// Mapped memory of a device.
class Memory {
public:
  explicit Memory(uint64_t sizeBytes, uint64_t address = 0, Device& device = theDevice());
  ~Memory();
  Memory(const Memory&) = delete;
  uint64_t address() const { return address_; }

  template <typename Value> void write(const std::vector<Value>& values, uint64_t offset = 0) {
    device_.copyToDevice(address_ + offset, values.data(), values.size() * sizeof(Value));
  }
  template <typename Value> std::vector<Value> read(size_t count, uint64_t offset = 0) const {
    std::vector<Value> values(count);
    device_.copyToHost(values.data(), address_ + offset, count * sizeof(Value));
    return values;
  }

private:
  Device& device_;
  uint64_t address_;
  uint64_t sizeBytes_; ///< whole granules
};

/// `count` values that do not repeat soon; different for different seeds.
template <typename Value> std::vector<Value> noise(size_t count, uint64_t seed = 1) {
  std::vector<Value> values(count);
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (Value& value : values) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    value = static_cast<Value>(state >> 11);
  }
  return values;
}

/// A kernel of kernels.h compiled and loaded for the device.
class Kernel {
public:
  explicit Kernel(const std::string& name,
                  std::vector<mneme::device::GlobalPlacement> placements = {},
                  Device& device = theDevice());

  /// Arguments are values; returns nanoseconds.
  template <typename... Args>
  uint64_t launch(const mneme::device::LaunchShape& shape, double timeoutSeconds, Args... args) {
    void* pointers[] = {static_cast<void*>(&args)..., nullptr};
    return device_.launch(*module_, shape, pointers, timeoutSeconds);
  }
  mneme::device::Module& module() { return *module_; }

private:
  Device& device_;
  std::unique_ptr<mneme::device::Module> module_;
};

mneme::device::LaunchShape shapeOf(uint32_t blocks, uint32_t threads, uint64_t sharedBytes = 0);

/// Long enough for every kernel that ends.
inline constexpr double kPatience = 60;

} // namespace conformance
