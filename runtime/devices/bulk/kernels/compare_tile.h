// Room devices: the elements of one tile, compared by one warp. The meaning of an element is
// runtime/devices/element_distance.h, the same as on the host.
#pragma once

#include "runtime/devices/bulk/layout.h"
#include "runtime/devices/element_distance.h"

#include "access.h"

namespace mneme::device::bulk {

inline bool isExactRequest(const CompareRequest& request) {
  return request.threshold == 0 && request.norm == Norm::None;
}
inline bool needsExpected(const CompareRequest& request) {
  return request.norm != Norm::None && request.kind == ThresholdKind::Relative;
}
/// Whether NaNs may fail although their bytes are the same.
inline bool needsNans(const CompareRequest& request) {
  return request.type >= DataType::F16 && !isExactRequest(request) &&
         request.nan == NanPolicy::Never;
}
inline bool needsEveryElement(const CompareRequest& request) {
  return needsExpected(request) || needsNans(request);
}

template <typename T> T larger(T a, T b) { return a < b ? b : a; }

/// The counts of one lane, then of the warp.
struct LaneCounts {
  TileCounts counts = {0, 0, ~uint64_t{0}, 0, 0, 0, 0, 0, 0};

  void merge(const TileCounts& other) {
    counts.mismatchCount += other.mismatchCount;
    counts.differentCount += other.differentCount;
    counts.firstMismatch = gpu::smaller(counts.firstMismatch, other.firstMismatch);
    counts.maxAbsolute = larger(counts.maxAbsolute, other.maxAbsolute);
    counts.maxRelative = larger(counts.maxRelative, other.maxRelative);
    counts.maxUlp = larger(counts.maxUlp, other.maxUlp);
    counts.isTailDifferent |= other.isTailDifferent;
  }

  void reduce() {
    for (uint32_t mask = gpu::lanes / 2; mask > 0; mask /= 2) {
      TileCounts other;
      other.mismatchCount = gpu::shuffleXor(counts.mismatchCount, mask);
      other.differentCount = gpu::shuffleXor(counts.differentCount, mask);
      other.firstMismatch = gpu::shuffleXor(counts.firstMismatch, mask);
      other.maxAbsolute = gpu::shuffleXor(counts.maxAbsolute, mask);
      other.maxRelative = gpu::shuffleXor(counts.maxRelative, mask);
      other.maxUlp = gpu::shuffleXor(counts.maxUlp, mask);
      other.isTailDifferent = gpu::shuffleXor(counts.isTailDifferent, mask);
      merge(other);
    }
  }
};

/// The sums of one lane, then of the warp.
struct LaneNorms {
  TileNorms norms = {};

  template <bool isWide> [[gnu::always_inline]] static void add(NormSums& sums, double value) {
    sums.largest = larger(sums.largest, value);
    if (isWide && value >= hugeLimit) {
      sums.hugeSum += value * hugeScale;
      sums.hugeSquares += value * hugeScale * (value * hugeScale);
      return;
    }
    sums.sum += value;
    if (isWide && value < tinyLimit)
      sums.tinySquares += value * tinyScale * (value * tinyScale);
    else
      sums.squares += value * value;
  }

  [[gnu::always_inline]] static void mergeSums(NormSums& into, const NormSums& other) {
    into.sum += other.sum;
    into.squares += other.squares;
    into.hugeSum += other.hugeSum;
    into.hugeSquares += other.hugeSquares;
    into.tinySquares += other.tinySquares;
    into.largest = larger(into.largest, other.largest);
  }

  [[gnu::always_inline]] static void reduceSums(NormSums& sums) {
    for (uint32_t mask = gpu::lanes / 2; mask > 0; mask /= 2)
      mergeSums(sums,
                {gpu::shuffleXor(sums.sum, mask), gpu::shuffleXor(sums.squares, mask),
                 gpu::shuffleXor(sums.hugeSum, mask), gpu::shuffleXor(sums.hugeSquares, mask),
                 gpu::shuffleXor(sums.tinySquares, mask), gpu::shuffleXor(sums.largest, mask)});
  }

  void merge(const TileNorms& other) {
    mergeSums(norms.difference, other.difference);
    mergeSums(norms.expected, other.expected);
  }
  void reduce() {
    reduceSums(norms.difference);
    reduceSums(norms.expected);
  }
};

/// What has to be known of a type when it is not known to the compiler: code for each of the 14
/// would make the module many times larger and its loading as much slower.
struct Element {
  static constexpr bool isWide = true; ///< squares may not fit into double

  explicit Element(DataType dataType)
      : type(dataType), isFloat(dataType >= DataType::F16),
        isSigned(!isFloat && static_cast<uint32_t>(dataType) % 2), bytes(bytesOf(dataType)) {}

  double decode(uint64_t bits) const {
    switch (type) {
    case DataType::F64:
      return device::decode<DataType::F64>(bits);
    case DataType::F32:
      return device::decode<DataType::F32>(bits);
    case DataType::F16:
      return device::decode<DataType::F16>(bits);
    case DataType::BF16:
      return device::decode<DataType::BF16>(bits);
    case DataType::F8E4M3:
      return device::decode<DataType::F8E4M3>(bits);
    default:
      return device::decode<DataType::F8E5M2>(bits);
    }
  }

  uint64_t extend(uint64_t bits) const {
    const uint32_t shift = 64 - 8 * bytes;
    return isSigned ? static_cast<uint64_t>(static_cast<int64_t>(bits << shift) >> shift) : bits;
  }

  [[gnu::always_inline]] Distance distance(const Tolerance& tolerance, uint64_t actual,
                                           uint64_t expected, double largest) const {
    if (!isFloat)
      return integerDistance(tolerance, isSigned, extend(actual), extend(expected), largest);
    return floatDistance(tolerance, decode(actual), decode(expected),
                         ulpDistance(actual, expected, bytes), actual == expected, largest);
  }

  double magnitude(uint64_t bits) const {
    if (isFloat)
      return __builtin_fabs(decode(bits));
    const uint64_t value = extend(bits);
    return isSigned ? __builtin_fabs(static_cast<double>(static_cast<int64_t>(value)))
                    : static_cast<double>(value);
  }

  static uint32_t bytesOf(DataType type) {
    switch (type) {
    case DataType::F64:
      return 8;
    case DataType::F32:
      return 4;
    case DataType::F16:
    case DataType::BF16:
      return 2;
    default:
      return type < DataType::F16 ? 1u << static_cast<uint32_t>(type) / 2 : 1;
    }
  }

  DataType type;
  bool isFloat, isSigned;
  uint32_t bytes;
};

/// The same for a type known to the compiler: for those that fill most buffers.
template <DataType known> struct FloatElement {
  static constexpr bool isWide = known == DataType::F64;
  static constexpr uint32_t bytes = sizeof(typename FloatFormat<known>::Bits);

  explicit FloatElement(DataType) {}
  [[gnu::always_inline]] Distance distance(const Tolerance& tolerance, uint64_t actual,
                                           uint64_t expected, double largest) const {
    return distanceOf<known>(tolerance, actual, expected, largest);
  }
  double magnitude(uint64_t bits) const { return __builtin_fabs(decode<known>(bits)); }
};

/// Compares elements; hasNorm makes the sums, which cost registers.
template <typename ElementType, bool hasNorm> class TileComparer {
public:
  explicit TileComparer(const CompareRequest& request)
      : request_(request), element_(request.type),
        tolerance_{request.threshold, request.kind, request.nan},
        isExact_(!hasNorm && request.threshold == 0), needsExpected_(needsExpected(request)),
        needsNans_(needsNans(request)) {}

  /// Elements of [offset, offset + sizeBytes), and the tail if the request ends here.
  [[gnu::always_inline]] void run(uint64_t offset, uint64_t sizeBytes) {
    constexpr uint32_t unroll = 2;
    const uint64_t actual = request_.actual + offset, expected = request_.expected + offset;
    const uint64_t firstIndex = offset / element_.bytes;
    const bool isAligned = (actual | expected) % gpu::pairBytes == 0;
    for (uint64_t at = gpu::lane() * gpu::pairBytes; at < sizeBytes;
         at += unroll * gpu::lanes * gpu::pairBytes) {
      gpu::Pair a[unroll], e[unroll];
#pragma unroll
      for (uint32_t k = 0; k < unroll; ++k) {
        const uint64_t next = at + k * gpu::lanes * gpu::pairBytes;
        a[k] = loadPart(actual, next, sizeBytes, isAligned);
        e[k] = loadPart(expected, next, sizeBytes, isAligned);
      }
#pragma unroll 1
      for (uint32_t word = 0; word < 2 * unroll; ++word) {
        const uint64_t next = at + word / 2 * gpu::lanes * gpu::pairBytes + word % 2 * 8;
        const gpu::Pair pairA = word < 2 ? a[0] : a[1], pairE = word < 2 ? e[0] : e[1];
        if (next < sizeBytes)
          compareWord(firstIndex + next / element_.bytes, word % 2 ? pairA.y : pairA.x,
                      word % 2 ? pairE.y : pairE.x,
                      static_cast<uint32_t>(gpu::smaller(8, sizeBytes - next)));
      }
    }
  }

  LaneCounts total;
  LaneNorms norm;

private:
  /// The 16 bytes at `at`; zeros behind the end.
  [[gnu::always_inline]] static gpu::Pair loadPart(uint64_t base, uint64_t at, uint64_t sizeBytes,
                                                   bool isAligned) {
    if (at + gpu::pairBytes <= sizeBytes)
      return isAligned ? gpu::loadPair<true>(base + at) : gpu::loadPair<false>(base + at);
    if (at >= sizeBytes)
      return {0, 0};
    const auto bytes = static_cast<uint32_t>(sizeBytes - at);
    return {gpu::loadBytes(base + at, bytes < 8 ? bytes : 8),
            gpu::loadBytes(base + at + 8, bytes < 8 ? 0 : bytes - 8)};
  }

  /// The elements of a word of which `bytes` bytes belong to the request.
  [[gnu::always_inline]] void compareWord(uint64_t index, uint64_t actual, uint64_t expected,
                                          uint32_t bytes) {
    if (actual == expected && !needsExpected_ && !needsNans_)
      return;
    const uint64_t mask = ~uint64_t{0} >> (64 - 8 * element_.bytes);
#pragma unroll 1
    for (; bytes >= element_.bytes; bytes -= element_.bytes, ++index) {
      compareOne(index, actual & mask, expected & mask);
      // Two steps, because a shift by 64 does nothing.
      actual = actual >> 4 * element_.bytes >> 4 * element_.bytes;
      expected = expected >> 4 * element_.bytes >> 4 * element_.bytes;
    }
    if (bytes != 0 && actual != expected) {
      ++total.counts.differentCount;
      total.counts.isTailDifferent = 1;
      noteMismatch(index);
    }
  }

  [[gnu::always_inline]] void compareOne(uint64_t index, uint64_t actual, uint64_t expected) {
    if (hasNorm && needsExpected_)
      addExpected(expected);
    const bool isDifferent = actual != expected;
    if (!isDifferent && !needsNans_)
      return;
    TileCounts& counts = total.counts;
    const Distance found = element_.distance(tolerance_, actual, expected, counts.maxRelative);
    if (isDifferent) {
      ++counts.differentCount;
      counts.maxAbsolute = larger(counts.maxAbsolute, found.absolute);
      counts.maxRelative = larger(counts.maxRelative, found.relative);
      counts.maxUlp = larger(counts.maxUlp, found.ulp);
    }
    if (hasNorm)
      LaneNorms::add<ElementType::isWide>(norm.norms.difference, found.absolute);
    if ((isDifferent && (isExact_ || hasNorm)) || !found.isWithin)
      noteMismatch(index);
  }

  [[gnu::always_inline]] void noteMismatch(uint64_t index) {
    ++total.counts.mismatchCount;
    total.counts.firstMismatch = gpu::smaller(total.counts.firstMismatch, index);
  }

  [[gnu::always_inline]] void addExpected(uint64_t bits) {
    const double value = element_.magnitude(bits);
    if (value < infinity) // neither infinite nor NaN
      LaneNorms::add<ElementType::isWide>(norm.norms.expected, value);
  }

  const CompareRequest request_;
  const ElementType element_;
  const Tolerance tolerance_;
  const bool isExact_, needsExpected_, needsNans_;
};

template <typename ElementType, bool hasNorm>
[[gnu::always_inline]] inline void compareTileOf(const CompareRequest& request, uint64_t offset,
                                                 uint64_t sizeBytes, LaneCounts& counts,
                                                 LaneNorms& norms) {
  TileComparer<ElementType, hasNorm> comparer(request);
  comparer.run(offset, sizeBytes);
  counts = comparer.total;
  norms = comparer.norm;
}

/// Requests are shared out to kernels, which differ in the registers they need.
enum class Share { CommonFloats, OtherTypes, FloatNorms, OtherNorms };

inline Share shareOf(const CompareRequest& request) {
  if (request.norm != Norm::None)
    return request.type == DataType::F32 ? Share::FloatNorms : Share::OtherNorms;
  const bool isCommon = request.type == DataType::F32 || request.type == DataType::F64;
  return isCommon ? Share::CommonFloats : Share::OtherTypes;
}

template <Share share>
[[gnu::always_inline]] inline void compareTile(const CompareRequest& request, uint64_t offset,
                                               uint64_t sizeBytes, uint64_t counts,
                                               uint64_t norms) {
  constexpr bool hasNorm = share == Share::FloatNorms || share == Share::OtherNorms;
  LaneCounts total;
  LaneNorms norm;
  if (share == Share::OtherTypes || share == Share::OtherNorms)
    compareTileOf<Element, hasNorm>(request, offset, sizeBytes, total, norm);
  else if (share == Share::FloatNorms || request.type == DataType::F32)
    compareTileOf<FloatElement<DataType::F32>, hasNorm>(request, offset, sizeBytes, total, norm);
  else
    compareTileOf<FloatElement<DataType::F64>, hasNorm>(request, offset, sizeBytes, total, norm);
  total.reduce();
  if (hasNorm)
    norm.reduce();
  if (gpu::lane() != 0)
    return;
  gpu::at<TileCounts>(counts) = total.counts;
  if (hasNorm)
    gpu::at<TileNorms>(norms) = norm.norms;
}

} // namespace mneme::device::bulk
