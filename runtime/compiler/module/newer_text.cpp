#include "runtime/compiler/module/newer_text.h"

#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/StringExtras.h>

#include <cstdint>

namespace mneme::compile {
namespace {

constexpr llvm::StringRef kNewer = "f0x";

bool isWordLetter(char letter) {
  return llvm::isAlnum(letter) || letter == '_' || letter == '.' || letter == '-';
}

/// A 32-bit float is written as the double of the same value.
std::string asDouble(llvm::StringRef digits) {
  uint64_t bits = 0;
  if (digits.getAsInteger(16, bits))
    return {};
  llvm::APFloat number(llvm::APFloat::IEEEsingle(), llvm::APInt(32, bits));
  bool losesBits = false;
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesBits);
  const std::string hex = llvm::utohexstr(number.bitcastToAPInt().getZExtValue());
  return "0x" + std::string(16 - hex.size(), '0') + hex;
}

/// Empty for a type of which nothing is known.
std::string older(llvm::StringRef type, llvm::StringRef digits) {
  if (type == "float" && digits.size() == 8)
    return asDouble(digits);
  if (type == "double" && digits.size() == 16)
    return "0x" + digits.str();
  if (type == "half" && digits.size() == 4)
    return "0xH" + digits.str();
  return type == "bfloat" && digits.size() == 4 ? "0xR" + digits.str() : "";
}

std::string withOlderFloatsInLine(llvm::StringRef line) {
  std::string result;
  llvm::StringRef type;
  bool isQuoted = false;
  while (!line.empty()) {
    isQuoted ^= line.front() == '"';
    llvm::StringRef word = isQuoted ? "" : line.take_while(isWordLetter);
    if (word.empty()) {
      result += line.front();
      line = line.drop_front();
      continue;
    }
    line = line.drop_front(word.size());
    if (word == "float" || word == "double" || word == "half" || word == "bfloat")
      type = word;
    const std::string number =
        word.starts_with(kNewer) ? older(type, word.drop_front(kNewer.size())) : std::string();
    result += number.empty() ? word.str() : number;
  }
  return result;
}

} // namespace

std::string withOlderFloats(llvm::StringRef text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    result += line.contains(kNewer) ? withOlderFloatsInLine(line) : line.str();
    if (line.size() < text.size())
      result += '\n';
    text = rest;
  }
  return result;
}

} // namespace mneme::compile
