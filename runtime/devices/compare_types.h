// Room devices: the vocabulary of verification as plain data. Compiled for the host and for GPUs;
// no library headers.
#pragma once

#include <stdint.h>

namespace mneme::device {

/// Element types; the numbers 0..10 are those of mneme/MnemeAnnotation.hpp and of the artifacts.
enum class DataType : uint8_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  U64,
  I64,
  F16,
  F32,
  F64,
  BF16,
  F8E4M3,
  F8E5M2
};
enum class ThresholdKind : uint8_t { Absolute = 0, Relative = 1, Ulp = 2 };
enum class Norm : uint8_t { None = 0, L1 = 1, L2 = 2, Linf = 3 };
/// What two NaNs mean: Equal (any NaN matches any NaN), Bitwise (payloads too), Never (NaN never
/// matches). A NaN on one side only never matches.
enum class NanPolicy : uint8_t { Equal = 0, Bitwise = 1, Never = 2 };

/// One buffer to be checked; addresses are device addresses.
/// With threshold 0 and norm None the comparison is exact, byte for byte (NaN payloads and signed
/// zeros included). Otherwise element i passes if |actual - expected| <= threshold (Absolute),
/// <= threshold * |expected| (Relative), or at most `threshold` units in the last place apart
/// (Ulp). With a norm, the norm of the difference over the whole buffer is compared instead
/// (Relative: against threshold * norm of expected). A tail shorter than one element is compared
/// exactly.
struct CompareRequest {
  uint64_t actual = 0;
  uint64_t expected = 0;
  uint64_t sizeBytes = 0;
  DataType type = DataType::U8;
  ThresholdKind kind = ThresholdKind::Absolute;
  Norm norm = Norm::None;
  NanPolicy nan = NanPolicy::Equal;
  double threshold = 0.0;
};

struct CompareReport {
  bool isExact = true;         ///< bytes are identical
  bool isAccepted = true;      ///< within the request's tolerance
  uint64_t mismatchCount = 0;  ///< elements outside tolerance
  uint64_t differentCount = 0; ///< elements that are not bit-identical
  uint64_t firstMismatch = 0;  ///< element index, valid if mismatchCount > 0
  uint64_t firstExpectedBits = 0;
  uint64_t firstActualBits = 0;
  double maxAbsolute = 0.0; ///< over elements that differ; NaN against number counts as infinity
  double maxRelative = 0.0; ///< |a - e| / |e|; infinity if e is 0 and a is not
  uint64_t maxUlp = 0;      ///< floating types only; saturates at UINT64_MAX for NaN against number
  double normValue = 0.0;   ///< of the difference, when a norm was asked for
};

} // namespace mneme::device
