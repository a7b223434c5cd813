// Room jit: one compiled form of a tuned kernel and how far it is.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/jit/backend.h"
#include "runtime/jit/cache_report.h"
#include "runtime/jit/request.h"

namespace mneme::jit {

class Kernel;

/// New -> building -> built -> loading -> ready, or failed for good. Thread-safe. Lives as long as
/// the process: launches may be in flight whenever it ends.
class Binary {
public:
  /// What whoever needs the binary has to do next.
  enum class Step {
    Build, ///< compile, then built() or fail()
    Load,  ///< load `image()`, then ready() or fail()
    Wait,  ///< another thread is at it
    Done,  ///< loaded() or never
  };

  Binary(const Kernel& kernel, const tuned::Variant& variant, BinarySpec spec)
      : kernel_(kernel), variant_(variant), spec_(std::move(spec)) {}

  const Kernel& kernel() const noexcept { return kernel_; }
  const tuned::Variant& variant() const noexcept { return variant_; }
  const BinarySpec& spec() const noexcept { return spec_; }
  /// Where launches of a marked kernel are counted, once its plan is made; else null.
  CacheReport::Entry* uses() const noexcept { return uses_.load(std::memory_order_relaxed); }
  void setUses(CacheReport::Entry& uses) noexcept { uses_.store(&uses, std::memory_order_relaxed); }

  /// Null unless ready. No lock.
  LoadedKernel* loaded() const noexcept { return loaded_.load(std::memory_order_acquire); }
  /// No lock.
  bool hasFailed() const noexcept { return hasFailed_.load(std::memory_order_acquire); }

  /// Build and Load are given to one caller each.
  Step next();
  /// Until nobody is at it any more, which is returned, or `seconds` have passed (0: for ever).
  bool wait(double seconds);

  /// `symbol`: the kernel's name in it; empty: its own.
  void built(std::vector<std::byte> image, std::string symbol);
  /// What was built, for whoever was told to Load.
  const std::vector<std::byte>& image() const noexcept { return image_; }
  const std::string& symbol() const noexcept { return symbol_; }
  void ready(std::unique_ptr<LoadedKernel> loaded);
  void fail();

private:
  enum class State { New, Building, Built, Loading, Ended };
  void become(State state);

  const Kernel& kernel_;
  const tuned::Variant& variant_;
  const BinarySpec spec_;
  std::atomic<CacheReport::Entry*> uses_{nullptr};
  std::atomic<LoadedKernel*> loaded_{nullptr};
  std::atomic<bool> hasFailed_{false};
  std::mutex mutex_; ///< of state_; the others belong to whoever does the step
  std::condition_variable changed_;
  State state_ = State::New;
  std::vector<std::byte> image_;
  std::string symbol_;
  std::unique_ptr<LoadedKernel> owned_;
};

} // namespace mneme::jit
