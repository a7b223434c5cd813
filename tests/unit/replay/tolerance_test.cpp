#include <cmath>
#include <doctest/doctest.h>
#include <random>
#include <vector>

#include "runtime/core/base/error.h"
#include "runtime/replay/replay.h"
#include "runtime/replay/type_guess.h"

using namespace mneme;
using namespace mneme::replay;
using device::DataType;

namespace {

template <typename Value> DataType guess(const std::vector<Value>& values) {
  return guessType(std::as_bytes(std::span(values)));
}

} // namespace

TEST_CASE("tolerances are read and written") {
  for (const char* text : {"f32:rel:1e-05", "out=f64:ulp:4", "0x610000000000=f32:abs:0.5:l2",
                           "a=b=u32:abs:0:nan-bitwise", "f16:rel:0.01:linf:nan-never"})
    CHECK(toText(parseToleranceRule(text)) == text);
  CHECK(toText(parseToleranceRule("out=f32:rel:1e-06:none:nan-equal")) == "out=f32:rel:1e-06");
}

TEST_CASE("malformed tolerances are refused") {
  for (const char* text :
       {"", "f32", "f32:rel", "f32:rel:", "f32:rel:x", "f32:rel:-1", "f32:rel:nan", "f32:rel:inf",
        "f99:rel:1", "f32:near:1", "f32:rel:1:l3", "out="})
    CHECK_THROWS_AS(parseToleranceRule(text), Error);
}

TEST_CASE("types are guessed from the bits") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<float> floats(500);
  std::vector<double> doubles(500), round(500);
  std::vector<uint32_t> integers(500);
  std::vector<uint64_t> noise(500);
  for (size_t i = 0; i < 500; ++i) {
    floats[i] = static_cast<float>(doubles[i] = normal(random));
    round[i] = static_cast<double>(i) * 0.5;
    integers[i] = static_cast<uint32_t>(i * 3);
    noise[i] = (uint64_t(random()) << 32) | random();
  }
  CHECK(guess(floats) == DataType::F32);
  CHECK(guess(doubles) == DataType::F64);
  CHECK(guess(round) == DataType::F64);
  CHECK(guess(integers) == DataType::U32);
  CHECK(guess(noise) == DataType::U8);
  CHECK(guess(std::vector<float>{0.1f}) == DataType::F32);
  CHECK(guess(std::vector<double>{0.1}) == DataType::F64);
  CHECK(guess(std::vector<char>{1, 2, 3}) == DataType::U8);
  CHECK(guess(std::vector<float>(8, NAN)) == DataType::F32);
}
