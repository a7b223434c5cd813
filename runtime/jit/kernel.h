// Room jit: one kernel of this process, with everything launches of it need.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/abi/mneme_jit_plugins.h"
#include "runtime/jit/binary.h"
#include "runtime/jit/closure.h"
#include "runtime/jit/kernel_code.h"
#include "runtime/jit/value_source.h"
#include "runtime/tuned/variant_index.h"

namespace mneme::jit {

/// What becomes of a launch.
struct Plan {
  Binary* binary = nullptr; ///< null: the ahead-of-time kernel
  tuned::Dims dims;
  bool isFinal = true; ///< false: to be decided again at the next launch of this kind
};

/// What Kernel::findBinary() says.
struct BinaryAnswer {
  Binary* binary = nullptr;
  bool isNew = false;
  bool isTooSoon = false; ///< no binary yet; there may be one the next time
};

/// What tells launches of a kernel apart, but for the arguments.
struct LaunchShape {
  int device = 0;
  bool mayReshape = false;
  tuned::Dims dims;
  uint64_t sharedBytes = 0;
  const mneme_pass_plugins* plugins = nullptr;
  bool operator==(const LaunchShape& other) const {
    return device == other.device && mayReshape == other.mayReshape && dims == other.dims &&
           sharedBytes == other.sharedBytes && plugins == other.plugins;
  }
};

/// A closure that a marked kernel calls.
struct KernelLambda {
  std::string function; ///< its call operator, mangled
  Closure closure;
};

/// Lives as long as the process.
class Kernel {
public:
  /// A kernel that is not tuned.
  Kernel() = default;
  /// `variants` all fit the code. `own`: how it is compiled where none of them is allowed, of a
  /// kernel that the program marks. There is a variant at least, or this.
  Kernel(KernelCode code, std::vector<tuned::Variant> variants,
         std::optional<tuned::Variant> own = std::nullopt);

  /// Whether it is compiled at run time at all.
  bool isTuned() const noexcept { return !variants_.empty() || own_; }
  /// Whether the program itself marks it.
  bool isMarked() const noexcept { return code_.blob && code_.blob->marks; }
  /// Whether what arguments point to decides about binaries.
  bool readsPointees() const noexcept {
    return std::ranges::any_of(decisive_, &ValueSource::isPointee);
  }
  /// Whether arguments and dimensions alone decide: what is right for a launch is right for every
  /// repetition of it.
  bool isToldByArguments() const noexcept { return !readsPointees() && lambdas_.empty(); }
  /// What decides which variant a launch takes, how and with which binary.
  const std::vector<ValueSource>& decisive() const noexcept { return decisive_; }
  /// What becomes constant in binaries of a variant, in ascending order of arguments.
  std::vector<ValueSource> valueSources(const tuned::Variant& variant) const;
  /// Values that the closures among these arguments are registered with.
  std::vector<compile::LambdaValue> lambdaValues(void** args) const;
  const KernelCode& code() const noexcept { return code_; }
  const std::vector<tuned::Variant>& variants() const noexcept { return variants_; }
  /// The one at `index`; that of the program's own marks behind the others.
  const tuned::Variant& variant(size_t index) const noexcept {
    return index < variants_.size() ? variants_[index] : *own_;
  }
  tuned::Choice choose(const tuned::LaunchFacts& facts) const { return index_.choose(facts); }
  const std::string& label() const noexcept; ///< for messages

  /// Whether anything came of the file's entry, or was said of it.
  bool hasServed() const noexcept { return hasServed_.load(std::memory_order_relaxed); }
  void setServed() noexcept { hasServed_.store(true, std::memory_order_relaxed); }

  /// The plan of one of the last few kinds of launch. No lock, no allocation.
  const Plan* recall(const LaunchShape& shape, void** args) const noexcept;

  /// Plans every launch but those like the last few, by `decide` and findBinary().
  /// Thread-safe. \throws what `decide` throws; it is asked again at the next launch then.
  template <typename Decide> Plan plan(const LaunchShape& shape, void** args, Decide&& decide) {
    const std::lock_guard lock(mutex_);
    std::string key = keyOf(shape, args);
    if (const auto known = plans_.find(key); known != plans_.end()) {
      makeRecent(*known->second);
      return known->second->plan;
    }
    const Plan plan = decide();
    // Beyond that many the program computes its arguments anew each time: deciding is cheap.
    if (plan.isFinal && plans_.size() < kMaxPlans)
      makeRecent(*plans_.emplace(std::move(key), remembered(shape, args, plan)).first->second);
    return plan;
  }

  /// For `decide` only: the binary for a variant, made if there are fewer than `maxBinaries` on the
  /// device; null otherwise. Once there are some, one for new specialised values or dimensions is
  /// made when they are launched a second time only: those that change with every launch are never
  /// worth it.
  BinaryAnswer findBinary(size_t variant, int device, const BinarySpec& spec, uint32_t maxBinaries);

private:
  struct Remembered {
    LaunchShape shape;
    Plan plan;
    std::vector<std::byte> values; ///< of decisive_, in that order, each behind its size
  };
  static constexpr size_t kRecent = 8;
  static constexpr size_t kMaxPlans = 1024;
  static constexpr uint32_t kMadeAtOnce = 4;
  static constexpr size_t kMaxSeenOnce = 4096;

  bool isSame(const Remembered& one, const LaunchShape& shape, void** args) const noexcept;
  std::vector<std::byte> valuesOf(void** args) const;
  std::string keyOf(const LaunchShape& shape, void** args) const;
  std::unique_ptr<const Remembered> remembered(const LaunchShape& shape, void** args,
                                               const Plan& plan) const;
  void makeRecent(const Remembered& one) noexcept;

  const KernelCode code_;
  const std::vector<tuned::Variant> variants_;
  const std::optional<tuned::Variant> own_;
  const tuned::VariantIndex index_{variants_};
  std::vector<ValueSource> decisive_;
  std::vector<KernelLambda> lambdas_; ///< they decide too

  std::atomic<bool> hasServed_{false};
  std::array<std::atomic<const Remembered*>, kRecent> recent_{};
  std::mutex mutex_; ///< of what follows
  size_t nextRecent_ = 0;
  std::unordered_map<std::string, std::unique_ptr<const Remembered>> plans_;
  std::unordered_map<std::string, std::unique_ptr<Binary>> binaries_;
  std::unordered_map<int, uint32_t> binaryCounts_; ///< by device
  std::unordered_set<std::string> seenOnce_;       ///< keys of binaries that are not there
};

} // namespace mneme::jit
