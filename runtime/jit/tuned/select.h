// Room jit/tuned: chooses the variant for a launch. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>

#include "runtime/jit/tuned/file.h"

namespace mneme::tuned {

/// The facts about a launch that decide which variant is chosen.
struct LaunchFacts {
  std::string arch; ///< of the device: "sm_90", "cpu"
  Dims dims;
  uint64_t sharedBytes = 0;
  /// As in mneme_launch. Every argument named by a variant has the size that the variant states.
  void** args = nullptr;
};

/// How well a variant fits a launch, best last.
enum class Closeness {
  None,      ///< guards do not hold
  OtherArch, ///< found on another architecture
  Nearest,   ///< found for another launch
  Same,      ///< found for a launch like this one, as far as the file says
};

/// Returns a text for users, such as "fits this launch"; never null.
const char* closenessName(Closeness closeness);

struct Choice {
  size_t variant = 0; ///< meaningless if closeness is None
  Closeness closeness = Closeness::None;
  /// How similar the launch is to that of Match; Other if Match has no shared memory.
  Likeness likeness = Likeness::Other;
};

/// Finds the best of the variants that it is shown, in any order.
class Chooser {
public:
  /// Both must outlive it.
  Chooser(std::span<const Variant> variants, const LaunchFacts& facts)
      : variants_(variants), facts_(facts) {}
  void look(size_t variant);
  const Choice& best() const noexcept { return best_; }

private:
  std::span<const Variant> variants_;
  const LaunchFacts& facts_;
  Choice best_;
  std::tuple<Closeness, double, double> rank_; ///< of best_; larger is better
};

/// Returns the best of all. Among equally close variants the one with the largest weight wins, then
/// the first.
Choice choose(std::span<const Variant> variants, const LaunchFacts& facts);

/// Whether the guards of the variant hold.
bool isAllowed(const Variant& variant, const LaunchFacts& facts);

/// Sum of |log2(launched / matched)| over threads in the grid, threads in a block and integer
/// arguments that can become constants, as far as the file has them. 0 for equal values. Values
/// without a ratio (zero, or of different sign) count as 64, the largest logarithm of a ratio of
/// 64-bit numbers.
double distance(const Match& match, const LaunchFacts& facts);

/// Returns the value of an integer argument of 1 to 8 bytes, sign extended.
int64_t integerOf(std::span<const std::byte> bytes);

} // namespace mneme::tuned
