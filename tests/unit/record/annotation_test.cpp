#include "mneme/MnemeAnnotation.hpp"

#include <doctest/doctest.h>

struct __half {
  unsigned short bits;
};

namespace {

mneme::BuiltinDType noted = mneme::BuiltinDType::U8;

template <class T> mneme::BuiltinDType typeOf(mneme::Metadata metadata = {}) {
  T* memory = nullptr;
  mneme::annotate(memory, metadata);
  return noted;
}

} // namespace

// What a recorder has, which this process has not.
extern "C" int mneme_set_metadata_for_ptr(const void*, const mneme_ptr_metadata* metadata) {
  noted = static_cast<mneme::BuiltinDType>(metadata->builtin);
  return 1;
}

namespace {
const void* partBegin = nullptr;
size_t partBytes = 0;
} // namespace

extern "C" int mneme_set_metadata_for_region(const void* begin, size_t bytes,
                                             const mneme_ptr_metadata* metadata) {
  partBegin = begin;
  partBytes = bytes;
  noted = static_cast<mneme::BuiltinDType>(metadata->builtin);
  return bytes != 0;
}

TEST_CASE("a part of a buffer is annotated in bytes") {
  double values[8] = {};
  CHECK(mneme::annotate(values + 2, 24, {.threshold = 0.5}));
  CHECK(partBegin == values + 2);
  CHECK(partBytes == 24);
  CHECK(noted == mneme::BuiltinDType::F64);
  const void* untyped = values;
  CHECK(mneme::annotate(untyped, 8, mneme::Metadata{.builtin = mneme::BuiltinDType::I32}));
  CHECK(noted == mneme::BuiltinDType::I32);
  CHECK_FALSE(mneme::annotate(static_cast<void*>(values), 0, mneme::Metadata{}));
}

TEST_CASE("metadata can be compared") {
  const mneme::Metadata one{.threshold = 0.5, .tag = "a"};
  mneme::Metadata other = one;
  CHECK(one == other);
  other.tag = "b";
  CHECK(one != other);
}

TEST_CASE("the element type of an annotation is the pointer's") {
  using mneme::BuiltinDType;
  CHECK(typeOf<__half>() == BuiltinDType::F16);
#if defined(__clang__) && defined(__FLT16_MANT_DIG__)
  CHECK(typeOf<const _Float16>() == BuiltinDType::F16);
#endif
  CHECK(typeOf<float>() == BuiltinDType::F32);
  CHECK(typeOf<const double>() == BuiltinDType::F64);
  CHECK(typeOf<short>() == BuiltinDType::I16);
  CHECK(typeOf<unsigned long>() == BuiltinDType::U64);
  CHECK(typeOf<unsigned short>({.builtin = BuiltinDType::F16}) == BuiltinDType::F16);
  struct Pair {
    int first, second;
  };
  CHECK(typeOf<Pair>() == BuiltinDType::U8);
}
