// Room tuned: which variant a launch takes. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>

#include "runtime/tuned/file.h"

namespace mneme::tuned {

/// What of a launch variants are chosen by.
struct LaunchFacts {
  std::string arch; ///< of the device: "sm_90", "cpu"
  Dims dims;
  uint64_t sharedBytes = 0;
  /// As in mneme_launch; every argument named by a variant has the bytes the variant says it has.
  void** args = nullptr;
};

/// How well a variant fits a launch, best last.
enum class Closeness {
  None,      ///< guards do not hold
  OtherArch, ///< found on another architecture
  Nearest,   ///< found for another launch
  Same,      ///< found for a launch like this one, as far as the file says
};

/// "fits this launch", ... for people; never null.
const char* closenessName(Closeness closeness);

struct Choice {
  size_t variant = 0; ///< meaningless if closeness is None
  Closeness closeness = Closeness::None;
  /// How like the launch of Match it is; Other if that does not say its shared memory.
  Likeness likeness = Likeness::Other;
};

/// Finds the best of the variants it is shown, in any order.
class Chooser {
public:
  /// Both have to live as long.
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

/// The best of all. Among equally near variants, the larger weight wins, then the first.
Choice choose(std::span<const Variant> variants, const LaunchFacts& facts);

/// Whether guards of the variant hold.
bool isAllowed(const Variant& variant, const LaunchFacts& facts);

/// Sum of |log2(launched / matched)| over threads in the grid, threads in a block and integer
/// arguments that can become constants, as far as the file says. 0 for equal values; values without
/// a ratio (zero or negative against others) count 64, as far as the largest ratio of 64-bit
/// numbers.
double distance(const Match& match, const LaunchFacts& facts);

/// The value of an integer argument, sign extended. `bytes` are 1 to 8.
int64_t integerOf(std::span<const std::byte> bytes);

} // namespace mneme::tuned
