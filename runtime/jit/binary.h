// Room jit: one compiled form of a tuned kernel, and the state of its making.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/jit/cache_report.h"
#include "runtime/jit/jit_backend.h"
#include "runtime/jit/request.h"

namespace mneme::jit {

class Kernel;

/// States: new, building, built, loading, then ready or failed for good. Thread-safe. Lives as long
/// as the process, because launches may be in flight when the process ends.
class Binary {
public:
  /// What a thread that needs the binary has to do next.
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
  /// The counters for launches of a marked kernel, once its plan is made; else null.
  CacheReport::Entry* uses() const noexcept { return uses_.load(std::memory_order_relaxed); }
  void setUses(CacheReport::Entry& uses) noexcept { uses_.store(&uses, std::memory_order_relaxed); }

  /// Null unless ready. Takes no lock.
  LoadedKernel* loaded() const noexcept { return loaded_.load(std::memory_order_acquire); }
  /// Takes no lock.
  bool hasFailed() const noexcept { return hasFailed_.load(std::memory_order_acquire); }

  /// Returns Build and Load to one caller each.
  Step next();
  /// Waits until no thread builds or loads the binary, or `seconds` have passed (0: for ever).
  /// Returns whether no thread does.
  bool wait(double seconds);

  /// `symbol` is the kernel's name in the image; empty: its own name.
  void built(std::vector<std::byte> image, std::string symbol);
  /// What was built, for the thread that got Step::Load.
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
  std::mutex mutex_; ///< guards state_; the other members belong to the thread that does the step
  std::condition_variable changed_;
  State state_ = State::New;
  std::vector<std::byte> image_;
  std::string symbol_;
  std::unique_ptr<LoadedKernel> owned_;
};

} // namespace mneme::jit
