#include "runtime/emulator/runtimes/curand/random_numbers.h"

#include <cmath>
#include <numbers>
#include <random>
#include <type_traits>

namespace mneme::cpu_runtime::curand {

namespace {

/// SplitMix64, which finds the number at any place of its sequence at once.
uint64_t bitsAt(uint64_t seed, uint64_t position) {
  uint64_t bits = seed + (position + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

/// As cuRAND has it: above 0, and 1 at the most.
template <typename Number> Number uniform(uint64_t bits) {
  if constexpr (std::is_same_v<Number, float>)
    return static_cast<float>((bits >> 40) + 1) * 0x1p-24f;
  else
    return static_cast<Number>((bits >> 11) + 1) * 0x1p-53;
}

/// The method of Box and Muller, of which one of two results is used.
double normal(uint64_t seed, uint64_t position) {
  const auto radius = std::sqrt(-2 * std::log(uniform<double>(bitsAt(seed, position))));
  const uint64_t other = bitsAt(~seed, position);
  return radius * std::cos(2 * std::numbers::pi * uniform<double>(other));
}

template <typename Number> Number numberAt(uint64_t seed, uint64_t position, const Shape& shape) {
  switch (shape.distribution) {
  case Distribution::Bits:
    break;
  case Distribution::Uniform:
    return uniform<Number>(bitsAt(seed, position));
  case Distribution::Normal:
    return static_cast<Number>(shape.mean + shape.deviation * normal(seed, position));
  case Distribution::LogNormal:
    return static_cast<Number>(std::exp(shape.mean + shape.deviation * normal(seed, position)));
  case Distribution::Poisson:
    std::minstd_rand engine(static_cast<uint32_t>(bitsAt(seed, position) >> 32));
    return static_cast<Number>(std::poisson_distribution<unsigned>(shape.mean)(engine));
  }
  return static_cast<Number>(bitsAt(seed, position) >> 32);
}

} // namespace

template <typename Number>
void fill(Sequence& sequence, const Shape& shape, Number* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i)
    numbers[i] = numberAt<Number>(sequence.seed, sequence.position + i, shape);
  sequence.position += count;
}

template void fill(Sequence&, const Shape&, unsigned*, size_t);
template void fill(Sequence&, const Shape&, float*, size_t);
template void fill(Sequence&, const Shape&, double*, size_t);

} // namespace mneme::cpu_runtime::curand
