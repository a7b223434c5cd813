#include "runtime/devices/profile/kernel_times.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/start_directory.h"

namespace mneme::profile {

namespace {

constexpr size_t kMostKept = 4096;

/// Never destroyed: static destructors of a program may launch kernels.
struct Process {
  KernelTimes times;
  std::filesystem::path folder;
  pid_t owner;
};
Process* process = nullptr;

void writeAtExit() {
  if (getpid() != process->owner)
    return;
  try {
    process->times.write(process->folder);
  } catch (const std::exception& failure) {
    notice(std::string("the times of kernels are lost: ") + failure.what());
  }
}

} // namespace

std::filesystem::path directory() {
  const char* value = environmentValue("MNEME_PROFILE_DIR");
  return value && *value ? startDirectory() / value : std::filesystem::path();
}

void Sample::add(uint64_t ns) {
  if (count_ % stride_ == 0)
    kept_.push_back(ns);
  ++count_;
  totalNs_ += ns;
  if (kept_.size() < kMostKept)
    return;
  for (size_t index = 0; index < kMostKept / 2; ++index)
    kept_[index] = kept_[2 * index];
  kept_.resize(kMostKept / 2);
  stride_ *= 2;
}

uint64_t Sample::medianNs() const {
  if (kept_.empty())
    return 0;
  std::vector<uint64_t> sorted = kept_;
  const auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

uint64_t Sample::middle() const {
  const uint64_t keptNs = std::accumulate(kept_.begin(), kept_.end(), uint64_t{0});
  uint64_t spentNs = 0;
  for (size_t index = 0; index < kept_.size(); ++index)
    if ((spentNs += kept_[index]) > keptNs / 2)
      return index * stride_;
  return 0;
}

KernelTimes::KernelTimes(std::string timer) : timer_(std::move(timer)) {}

void KernelTimes::note(std::string_view kernel, const device::LaunchShape& shape, uint64_t ns) {
  const Shape key{shape.grid[0],  shape.grid[1],  shape.grid[2],           shape.block[0],
                  shape.block[1], shape.block[2], shape.dynamicSharedBytes};
  const std::lock_guard lock(mutex_);
  auto known = kernels_.find(kernel);
  if (known == kernels_.end())
    known = kernels_.emplace(kernel, std::map<Shape, Sample>()).first;
  known->second[key].add(ns);
}

void KernelTimes::write(const std::filesystem::path& folder) const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const std::lock_guard lock(mutex_);
  for (const auto& [kernel, shapes] : kernels_)
    for (const auto& [shape, sample] : shapes)
      rows.push_back({{"kernel", kernel},
                      {"grid", {shape[0], shape[1], shape[2]}},
                      {"block", {shape[3], shape[4], shape[5]}},
                      {"shared", shape[6]},
                      {"launches", sample.count()},
                      {"total_ns", sample.totalNs()},
                      {"median_ns", sample.medianNs()},
                      {"middle", sample.middle()}});
  if (rows.empty())
    return;
  const std::string pid = std::to_string(getpid());
  const nlohmann::ordered_json content{
      {"format", 1}, {"timer", timer_}, {"pid", getpid()}, {"rows", std::move(rows)}};
  // A kernel's name is whatever bytes its object says.
  const std::string text =
      content.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  writeFileAtomically(folder / (pid + "-" + timer_ + ".json"), text + "\n");
}

KernelTimes* kernelTimes(const char* timer) noexcept {
  static KernelTimes* const found = [timer]() noexcept -> KernelTimes* {
    try {
      const std::filesystem::path folder = directory();
      if (folder.empty())
        return nullptr;
      process = new Process{KernelTimes(timer), folder, getpid()};
      std::atexit(writeAtExit);
      return &process->times;
    } catch (const std::exception& failure) {
      notice(std::string("kernels are not measured: ") + failure.what());
      return nullptr;
    }
  }();
  return found;
}

} // namespace mneme::profile
