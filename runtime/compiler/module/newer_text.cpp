#include "runtime/compiler/module/newer_text.h"

#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Error.h>

#include <cstdint>
#include <optional>

namespace mneme::compile {
namespace {

constexpr llvm::StringRef kNewer = "f0x";
constexpr llvm::StringRef kBetween = " \t,()<>[]{}\"";

const llvm::fltSemantics* formatOf(llvm::StringRef type) {
  return type == "float"    ? &llvm::APFloat::IEEEsingle()
         : type == "double" ? &llvm::APFloat::IEEEdouble()
         : type == "half"   ? &llvm::APFloat::IEEEhalf()
         : type == "bfloat" ? &llvm::APFloat::BFloat()
                            : nullptr;
}

/// Bits as text has them; those of a 32-bit float are the bits of the double with its value.
std::string olderBits(llvm::APFloat number) {
  bool losesBits = false;
  const bool isFloat = &number.getSemantics() == &llvm::APFloat::IEEEsingle();
  const char* prefix = &number.getSemantics() == &llvm::APFloat::IEEEhalf() ? "0xH"
                       : &number.getSemantics() == &llvm::APFloat::BFloat() ? "0xR"
                                                                            : "0x";
  if (isFloat)
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesBits);
  const llvm::APInt bits = number.bitcastToAPInt();
  const std::string hex = llvm::utohexstr(bits.getZExtValue());
  return prefix + std::string(bits.getBitWidth() / 4 - hex.size(), '0') + hex;
}

bool isDecimal(llvm::StringRef word) {
  word.consume_front("-");
  return !word.empty() && llvm::isDigit(word.front()) && word.contains('.') &&
         word.find_first_not_of("0123456789.e+-") == word.npos;
}

/// Nothing for what is no number of this format, or is written as ever.
std::optional<llvm::APFloat> numberIn(llvm::StringRef word, const llvm::fltSemantics& format) {
  const unsigned width = llvm::APFloat::getSizeInBits(format);
  uint64_t bits = 0;
  if (word.consume_front(kNewer))
    return word.size() == width / 4 && !word.getAsInteger(16, bits)
               ? std::optional(llvm::APFloat(format, llvm::APInt(width, bits)))
               : std::nullopt;
  const bool isNegative = word.starts_with("-");
  const llvm::StringRef name = word.ltrim("+-");
  if (name.size() + 1 == word.size() && (name == "inf" || name == "qnan"))
    return name == "inf" ? llvm::APFloat::getInf(format, isNegative)
                         : llvm::APFloat::getQNaN(format, isNegative);
  // The shortest text that gives the number; older LLVMs want one that has exactly its value.
  if (!isDecimal(word))
    return std::nullopt;
  llvm::APFloat number(format);
  auto done = number.convertFromString(word, llvm::APFloat::rmNearestTiesToEven);
  if (done)
    return number;
  llvm::consumeError(done.takeError());
  return std::nullopt;
}

/// "+nan(0x3FFFFF)", whose payload `rest` begins with, and loses.
std::optional<llvm::APFloat> nanIn(llvm::StringRef word, llvm::StringRef& rest,
                                   const llvm::fltSemantics& format) {
  const auto [digits, behind] = rest.split(')');
  uint64_t payload = 0;
  if (!digits.starts_with("(0x") || digits.drop_front(3).getAsInteger(16, payload))
    return std::nullopt;
  rest = behind;
  const llvm::APInt bits(64, payload);
  return llvm::APFloat::getQNaN(format, word.starts_with("-"), &bits);
}

std::string withOlderFloatsInLine(llvm::StringRef line) {
  std::string result;
  const llvm::fltSemantics* format = nullptr;
  bool isQuoted = false;
  while (!line.empty()) {
    const size_t length = line.find_first_of(kBetween);
    const llvm::StringRef word = line.take_front(length == 0 ? 1 : length);
    line = line.drop_front(word.size());
    isQuoted ^= word == "\"";
    if (const auto* named = formatOf(word))
      format = named;
    std::optional<llvm::APFloat> number;
    if (format && !isQuoted)
      number =
          word == "+nan" || word == "-nan" ? nanIn(word, line, *format) : numberIn(word, *format);
    result += number ? olderBits(*number) : word.str();
  }
  return result;
}

} // namespace

std::string withOlderFloats(llvm::StringRef text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    result += withOlderFloatsInLine(line);
    if (line.size() < text.size())
      result += '\n';
    text = rest;
  }
  return result;
}

} // namespace mneme::compile
