// Room emulator/runtimes: numbers that are random enough for a program to run. They are not
// cuRAND's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::cpu_runtime::curand {

/// Where a generator is in its sequence. The same seed and position give the same numbers.
struct Sequence {
  uint64_t seed = 0;
  uint64_t position = 0;
};

/// What numbers are distributed like; a logarithmic normal distribution is the exponential of
/// `Normal`.
enum class Distribution { Bits, Uniform, Normal, LogNormal, Poisson };

struct Shape {
  Distribution distribution = Distribution::Bits;
  double mean = 0;
  double deviation = 1;
};

/// Writes `count` numbers and moves the sequence behind them. For `unsigned`, `float` and `double`.
template <typename Number>
void fill(Sequence& sequence, const Shape& shape, Number* numbers, size_t count);

} // namespace mneme::cpu_runtime::curand
