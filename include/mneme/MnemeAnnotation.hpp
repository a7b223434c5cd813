// Tells mneme how the content of a device buffer is to be compared after a replay. C++17, no
// dependency; a program that is not being recorded pays one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "mneme/annotation.h"

struct __half; // of CUDA and HIP

namespace mneme {

/// Element types. The numbers are part of the recording format.
enum class BuiltinDType : std::uint8_t {
  U8 = 0,
  I8 = 1,
  U16 = 2,
  I16 = 3,
  U32 = 4,
  I32 = 5,
  U64 = 6,
  I64 = 7,
  F16 = 8,
  F32 = 9,
  F64 = 10
};

/// What `Metadata::threshold` is compared with: |actual - expected|, or that over |expected|.
enum class ThresholdKind : std::uint8_t { Absolute = 0, Relative = 1 };

/// None compares element by element, the others a norm of the whole buffer's difference.
enum class Norm : std::uint8_t { None = 0, L1 = 1, L2 = 2, Linf = 3 };

struct Metadata {
  BuiltinDType builtin = BuiltinDType::U8;
  double threshold = 0.0; ///< 0 with Norm::None: the content must be equal byte for byte
  ThresholdKind threshold_kind = ThresholdKind::Absolute;
  Norm norm = Norm::None;
  std::optional<std::string> tag = std::nullopt; ///< name of the buffer in reports
};

inline bool operator==(const Metadata& a, const Metadata& b) {
  return a.builtin == b.builtin && a.threshold == b.threshold &&
         a.threshold_kind == b.threshold_kind && a.norm == b.norm && a.tag == b.tag;
}
inline bool operator!=(const Metadata& a, const Metadata& b) { return !(a == b); }

namespace detail {

template <class T> inline constexpr bool isHalf = std::is_same_v<T, __half>;
#if defined(__clang__) && defined(__FLT16_MANT_DIG__) // older g++ has the macro without the type
template <> inline constexpr bool isHalf<_Float16> = true;
#endif

template <class T> constexpr BuiltinDType builtinOf() {
  if constexpr (isHalf<T>)
    return BuiltinDType::F16;
  else if constexpr (std::is_same_v<T, float>)
    return BuiltinDType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return BuiltinDType::F64;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return std::is_signed_v<T> ? BuiltinDType::I64 : BuiltinDType::U64;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return std::is_signed_v<T> ? BuiltinDType::I32 : BuiltinDType::U32;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 2)
    return std::is_signed_v<T> ? BuiltinDType::I16 : BuiltinDType::U16;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return BuiltinDType::I8;
  else
    return BuiltinDType::U8;
}

} // namespace detail

namespace detail {

inline mneme_ptr_metadata plainOf(const Metadata& metadata) {
  mneme_ptr_metadata plain{};
  plain.version = MNEME_METADATA_VERSION;
  plain.builtin = static_cast<std::uint8_t>(metadata.builtin);
  plain.threshold_kind = static_cast<std::uint8_t>(metadata.threshold_kind);
  plain.norm = static_cast<std::uint8_t>(metadata.norm);
  plain.threshold = metadata.threshold;
  plain.tag = metadata.tag ? metadata.tag->c_str() : nullptr;
  return plain;
}

} // namespace detail

/// Attaches `metadata` to the allocation that starts at `ptr`, until it is freed. Annotating again
/// replaces it. Returns whether anybody took note: false when the program is not being recorded.
inline bool annotate(const void* ptr, Metadata metadata) {
  if (!mneme_set_metadata_for_ptr)
    return false;
  const mneme_ptr_metadata plain = detail::plainOf(metadata);
  return mneme_set_metadata_for_ptr(ptr, &plain) != 0;
}

inline bool annotate(void* ptr, Metadata metadata) {
  return annotate(static_cast<const void*>(ptr), std::move(metadata));
}

/// Same, with the element type from the pointer unless `metadata` names another.
template <class T> bool annotate(T* ptr, Metadata metadata = {}) {
  if (metadata.builtin == BuiltinDType::U8)
    metadata.builtin = detail::builtinOf<std::remove_cv_t<T>>();
  return annotate(static_cast<const void*>(ptr), std::move(metadata));
}

/// Attaches `metadata` to `bytes` bytes from `begin` on, anywhere in an allocation, until it is
/// freed. Annotating the same bytes again replaces it; metadata of the whole allocation
/// holds for the rest of it. Bytes that are in no allocation, that are not a whole number of
/// elements or that overlap other annotated bytes are left out with a message of the recorder.
inline bool annotate(const void* begin, std::size_t bytes, Metadata metadata) {
  if (!mneme_set_metadata_for_region)
    return false;
  const mneme_ptr_metadata plain = detail::plainOf(metadata);
  return mneme_set_metadata_for_region(begin, bytes, &plain) != 0;
}

inline bool annotate(void* begin, std::size_t bytes, Metadata metadata) {
  return annotate(static_cast<const void*>(begin), bytes, std::move(metadata));
}

/// Same, with the element type from the pointer unless `metadata` names another. These are bytes,
/// too, not elements.
template <class T> bool annotate(T* begin, std::size_t bytes, Metadata metadata) {
  if (metadata.builtin == BuiltinDType::U8)
    metadata.builtin = detail::builtinOf<std::remove_cv_t<T>>();
  return annotate(static_cast<const void*>(begin), bytes, std::move(metadata));
}

} // namespace mneme
