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
