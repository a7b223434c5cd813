// Room devices/cuda: hardware counters of kernels, from CUPTI's range profiler.
//
// A counter is read in as many passes as the hardware needs for all that are wanted; each pass is a
// launch of its own, for which the caller restores memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/devices/cuda/cuda_context.h"
#include "runtime/devices/cuda/cupti_library.h"
#include "runtime/devices/device.h"

namespace mneme::device::cuda {

/// Which counters are read in which pass, for one kind of GPU.
class CounterPlan {
public:
  /// `gpu` is for messages. \throws as startCounters()
  CounterPlan(Context& context, const std::string& gpu, std::vector<std::string> names);
  CounterPlan(const CounterPlan&) = delete;
  CounterPlan& operator=(const CounterPlan&) = delete;

  const std::vector<std::string>& names() const noexcept { return names_; }
  /// The same for CUPTI.
  const char** rawNames() const noexcept { return const_cast<const char**>(rawNames_.data()); }
  const std::vector<uint8_t>& config() const noexcept { return config_; }
  size_t passes() const noexcept { return passes_; }
  /// Returns the value of each counter from what was read.
  std::vector<double> evaluate(const std::vector<uint8_t>& data) const;

private:
  struct Free {
    void operator()(CounterHost* host) const noexcept;
  };

  using Host = std::unique_ptr<CounterHost, Free>;

  void chooseChip(Context& context, const std::string& gpu);
  Host openHost(const char* chip) const;
  bool addTo(CounterHost* host, const char** names, size_t count) const noexcept;
  void makeConfig();

  const CounterFunctions& functions_;
  std::vector<std::string> names_;
  std::vector<const char*> rawNames_;
  Host host_;
  std::vector<uint8_t> config_;
  size_t passes_ = 0;
};

/// Returns what reads the counters of `plan`. The context must outlive it.
/// \throws Error{BackendUnavailable} if the driver does not permit it, Error{InvalidArgument} for a
/// counter that the GPU does not have, Error{DeviceFailed} with what else CUPTI says
std::unique_ptr<CounterPasses> startCounters(Context& context, const CounterPlan& plan);

} // namespace mneme::device::cuda
