#include "runtime/jit/frontend/dsl/mlir_words.h"

#include "runtime/jit/frontend/dsl/llvm_words.h"

#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace proteus {
namespace {

bool isPlain(unsigned char c) { return std::isalnum(c) || std::strchr("$._", c); }

} // namespace

std::string mlirPointer(AddressSpace space) {
  if (space == AddressSpace::DEFAULT)
    return "!llvm.ptr";
  return "!llvm.ptr<" + std::to_string(static_cast<unsigned>(space)) + ">";
}

std::string mlirType(const IRType& type) {
  switch (type.Kind) {
  case IRTypeKind::Void:
    return "";
  case IRTypeKind::Float:
    return "f32";
  case IRTypeKind::Double:
    return "f64";
  case IRTypeKind::Pointer:
    return mlirPointer(type.AddrSpace);
  case IRTypeKind::Array:
    return "!llvm.array<" + std::to_string(type.NElem) + " x " +
           mlirType({type.ElemKind, false, IRTypeKind::Void, 0, {}}) + ">";
  default:
    return "i" + std::to_string(type.getBits());
  }
}

std::string mlirExtension(const IRType& type) {
  if (type.isVoid())
    return "";
  const std::string extended = extension(type);
  return extended.empty() ? "" : " {llvm." + extended.substr(0, extended.size() - 1) + "}";
}

std::string mlirSymbol(const std::string& name) {
  bool isQuoted = name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ||
                  std::strchr("$.", name[0]);
  std::string spelt;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    isQuoted |= byte == 0 || !isPlain(byte);
    if (std::isprint(byte) && c != '"' && c != '\\') {
      spelt += c;
      continue;
    }
    char digits[4];
    std::snprintf(digits, sizeof digits, "\\%02X", byte);
    spelt += digits;
  }
  return isQuoted ? '"' + spelt + '"' : spelt;
}

std::string mlirName(const std::string& hint) {
  std::string name;
  for (const char c : hint)
    name += c != 0 && isPlain(static_cast<unsigned char>(c)) ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])))
    name.insert(0, "_");
  return name;
}

std::string mlirFloat(const IRType& type, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6e", value);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits >> 52 & 0x7ff) != 0x7ff) {
    if (std::strtod(text, nullptr) != value)
      std::snprintf(text, sizeof text, "%.17e", value);
    return text;
  }
  const auto single = static_cast<float>(value);
  uint32_t singleBits = 0;
  std::memcpy(&singleBits, &single, sizeof singleBits);
  if (type.Kind == IRTypeKind::Float)
    std::snprintf(text, sizeof text, "0x%08" PRIX32, singleBits);
  else
    std::snprintf(text, sizeof text, "0x%016" PRIX64, bits);
  return text;
}

} // namespace proteus
