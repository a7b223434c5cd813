#include <algorithm>

#include "support.h"

using namespace test;

namespace {

const std::vector<uint32_t> kWords = {0,          1,          0x80000000, 0xffffffff,
                                      0x12345678, 0xdeadbeef, 0x00ff00ff, 31};

std::vector<uint32_t> rotated(size_t by) {
  std::vector<uint32_t> values = kWords;
  std::rotate(values.begin(), values.begin() + by, values.end());
  return values;
}

template <typename Function>
void checkWords(const std::string& name, unsigned operands, Function function) {
  std::vector<std::vector<uint32_t>> inputs = {kWords, rotated(3), rotated(5)};
  auto reference = inputs;
  inputs.resize(operands);
  auto got = callIntrinsic<uint32_t, uint32_t>("llvm.nvvm." + name, inputs);
  for (size_t index = 0; index < kWords.size(); ++index)
    checkSame(got[index],
              uint32_t(function(reference[0][index], reference[1][index], reference[2][index])),
              name);
}

uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned lane = 0; lane < 4; ++lane) {
    uint32_t nibble = selector >> (4 * lane) & 15;
    uint32_t byte = bytes >> (8 * (nibble & 7)) & 255;
    if (nibble & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * lane);
  }
  return result;
}

} // namespace

TEST_CASE("multiplications keep the right half") {
  checkWords("mulhi.i", 2, [](uint32_t a, uint32_t b, uint32_t) {
    return uint64_t(int64_t(int32_t(a)) * int32_t(b)) >> 32;
  });
  checkWords("mulhi.ui", 2, [](uint32_t a, uint32_t b, uint32_t) { return uint64_t(a) * b >> 32; });
  checkWords("mul24.ui", 2,
             [](uint32_t a, uint32_t b, uint32_t) { return (a & 0xffffff) * (b & 0xffffff); });
  checkWords("mul24.i", 2, [](uint32_t a, uint32_t b, uint32_t) {
    return uint32_t(int32_t(a << 8) >> 8) * uint32_t(int32_t(b << 8) >> 8);
  });
}

TEST_CASE("byte permutation and sums of differences") {
  checkWords("prmt", 3, permute);
  checkWords("sad.ui", 3,
             [](uint32_t a, uint32_t b, uint32_t c) { return (a > b ? a - b : b - a) + c; });
  checkWords("sad.i", 3, [](uint32_t a, uint32_t b, uint32_t c) {
    return uint32_t(std::abs(int64_t(int32_t(a)) - int32_t(b))) + c;
  });
}

TEST_CASE("the n-th set bit is found in both directions") {
  auto got = callIntrinsic<uint32_t, uint32_t>(
      "llvm.nvvm.fns", {{0b1010'1100, 0b1010'1100, 0b1010'1100, 0b1010'1100, 0b1000},
                        {0, 3, 6, 2, 0},
                        {2, 1, uint32_t(-2), 0, 2}});
  CHECK(got == std::vector<uint32_t>{3, 3, 3, 2, ~0u});
}

TEST_CASE("shift amounts beyond the width shift everything out") {
  std::vector<uint32_t> amounts = {0, 1, 31, 32, 33, 255, ~0u};
  std::vector<uint32_t> values(amounts.size(), 0x80000001);
  auto left = evaluate<uint32_t, uint32_t>("  %r = shl i32 %a, %b", {values, amounts});
  CHECK(left == std::vector<uint32_t>{0x80000001, 2, 0x80000000, 0, 0, 0, 0});
  auto right = evaluate<uint32_t, uint32_t>("  %r = ashr i32 %a, %b", {values, amounts});
  CHECK(right == std::vector<uint32_t>{0x80000001, 0xc0000000, ~0u, ~0u, ~0u, ~0u, ~0u});
}

TEST_CASE("integers of 128 bits divide") {
  auto got = evaluate<uint64_t, uint64_t>("  %wa = zext i64 %a to i128\n"
                                          "  %high = shl i128 %wa, 64\n"
                                          "  %wb = zext i64 %b to i128\n"
                                          "  %q = udiv i128 %high, %wb\n"
                                          "  %m = srem i128 %high, %wb\n"
                                          "  %s = add i128 %q, %m\n"
                                          "  %r = trunc i128 %s to i64",
                                          {{1, 12345, 5}, {3, 1000000007, 0}});
  auto expected = [](unsigned __int128 a, unsigned __int128 b) {
    return uint64_t((a << 64) / b + (a << 64) % b);
  };
  CHECK(got == std::vector<uint64_t>{expected(1, 3), expected(12345, 1000000007), ~0ull});
}

TEST_CASE("division by zero is defined and does not trap") {
  std::vector<uint32_t> dividends = {7, 0x80000000, 0x80000000};
  std::vector<uint32_t> divisors = {0, ~0u, 2};
  auto quotients = evaluate<uint32_t, uint32_t>("  %r = sdiv i32 %a, %b", {dividends, divisors});
  CHECK(quotients == std::vector<uint32_t>{~0u, 0x80000000, 0xc0000000});
  auto rests = evaluate<uint32_t, uint32_t>("  %r = srem i32 %a, %b", {dividends, divisors});
  CHECK(rests == std::vector<uint32_t>{7, 0, 0});
  auto natural = evaluate<uint32_t, uint32_t>("  %r = udiv i32 %a, %b", {dividends, divisors});
  CHECK(natural == std::vector<uint32_t>{~0u, 0, 0x40000000});
}
