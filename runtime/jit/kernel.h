// Room jit: one kernel of this process, with everything that its launches need.
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

#include "runtime/core/abi/mneme_jit_plugins.h"
#include "runtime/jit/binary.h"
#include "runtime/jit/closure.h"
#include "runtime/jit/kernel_code.h"
#include "runtime/jit/tuned/variant_index.h"
#include "runtime/jit/value_source.h"

namespace mneme::jit {

/// How a launch is executed.
struct Plan {
  Binary* binary = nullptr; ///< null: the ahead-of-time kernel
  tuned::Dims dims;
  bool isFinal = true; ///< false: decide again at the next launch of this kind
};

/// The result of Kernel::findBinary().
struct BinaryAnswer {
  Binary* binary = nullptr;
  bool isNew = false;
  bool isTooSoon = false; ///< no binary is made yet; the next launch may get one
};

/// Everything but the arguments that distinguishes launches of a kernel.
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
  /// All `variants` fit the code. `own` is the variant of a kernel that the program marks, used if
  /// no other is allowed. There must be at least one variant or `own`.
  Kernel(KernelCode code, std::vector<tuned::Variant> variants,
         std::optional<tuned::Variant> own = std::nullopt);

  /// Whether the kernel is compiled at run time at all.
  bool isTuned() const noexcept { return !variants_.empty() || own_; }
  /// Whether the program itself marks the kernel.
  bool isMarked() const noexcept { return code_.blob && code_.blob->marks; }
  /// Whether the choice of a binary depends on memory that arguments point to.
  bool readsPointees() const noexcept {
    return std::ranges::any_of(decisive_, &ValueSource::isPointee);
  }
  /// Whether arguments and dimensions alone decide, so that the plan of a launch is right for every
  /// repetition of it.
  bool isToldByArguments() const noexcept { return !readsPointees() && lambdas_.empty(); }
  /// The values that decide about variant, dimensions and binary of a launch.
  const std::vector<ValueSource>& decisive() const noexcept { return decisive_; }
  /// The values that become constants in binaries of a variant, in ascending order of arguments.
  std::vector<ValueSource> valueSources(const tuned::Variant& variant) const;
  /// Returns the values of fields of registered closures among these arguments.
  std::vector<compile::LambdaValue> lambdaValues(void** args) const;
  const KernelCode& code() const noexcept { return code_; }
  const std::vector<tuned::Variant>& variants() const noexcept { return variants_; }
  /// Returns the variant at `index`; the one of the program's own marks follows the others.
  const tuned::Variant& variant(size_t index) const noexcept {
    return index < variants_.size() ? variants_[index] : *own_;
  }
  /// Whether a variant is the one of the program's marks.
  bool isOwn(const tuned::Variant& variant) const noexcept { return own_ && &variant == &*own_; }
  tuned::Choice choose(const tuned::LaunchFacts& facts) const { return index_.choose(facts); }
  const std::string& label() const noexcept; ///< for messages

  /// Whether the file's entry was used, or a message about it was printed.
  bool hasServed() const noexcept { return hasServed_.load(std::memory_order_relaxed); }
  void setServed() noexcept { hasServed_.store(true, std::memory_order_relaxed); }

  /// Returns the plan if the launch is like one of the last few; else null. Takes no lock,
  /// allocates nothing.
  const Plan* recall(const LaunchShape& shape, void** args) const noexcept;

  /// Returns the plan of any launch; `decide` makes new plans. Thread-safe. \throws what `decide`
  /// throws; it is called again at the next launch then.
  template <typename Decide> Plan plan(const LaunchShape& shape, void** args, Decide&& decide) {
    const std::lock_guard lock(mutex_);
    std::string key = keyOf(shape, args);
    if (const auto known = plans_.find(key); known != plans_.end()) {
      makeRecent(*known->second);
      return known->second->plan;
    }
    const Plan plan = decide();
    // With more kinds of launches the arguments are new each time. Then deciding again is cheap
    // enough.
    if (plan.isFinal && plans_.size() < kMaxPlans)
      makeRecent(*plans_.emplace(std::move(key), remembered(shape, args, plan)).first->second);
    return plan;
  }

  /// For `decide` only: returns the binary for a variant, and makes it if the device has fewer than
  /// `maxBinaries`; null otherwise. After the first few, new specialised values or dimensions get a
  /// binary only at their second launch: values that change with every launch are never worth one.
  BinaryAnswer findBinary(size_t variant, int device, const BinarySpec& spec, uint32_t maxBinaries);

private:
  struct Remembered {
    LaunchShape shape;
    Plan plan;
    std::vector<std::byte> values; ///< of decisive_, in that order, each after its size
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
  std::mutex mutex_; ///< guards the members below
  size_t nextRecent_ = 0;
  std::unordered_map<std::string, std::unique_ptr<const Remembered>> plans_;
  std::unordered_map<std::string, std::unique_ptr<Binary>> binaries_;
  std::unordered_map<int, uint32_t> binaryCounts_; ///< by device
  std::unordered_set<std::string> seenOnce_;       ///< keys of binaries that are not made yet
};

} // namespace mneme::jit
