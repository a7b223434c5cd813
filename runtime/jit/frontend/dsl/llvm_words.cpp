#include "runtime/jit/frontend/dsl/llvm_words.h"

#include "include/proteus/Frontend/LLVMTypeMap.h"

#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace proteus {
namespace {

std::string inSpace(AddressSpace space) {
  if (space == AddressSpace::DEFAULT)
    return "ptr";
  return "ptr addrspace(" + std::to_string(static_cast<unsigned>(space)) + ")";
}

std::string scalarType(IRTypeKind kind) {
  switch (kind) {
  case IRTypeKind::Void:
    return "void";
  case IRTypeKind::Float:
    return "float";
  case IRTypeKind::Double:
    return "double";
  case IRTypeKind::Pointer:
  case IRTypeKind::Array:
    return "ptr";
  default:
    return "i" + std::to_string(IRType{kind, false, IRTypeKind::Void, 0, {}}.getBits());
  }
}

} // namespace

std::string toLLVMType(const IRType& type) {
  if (type.isArray())
    return "[" + std::to_string(type.NElem) + " x " + scalarType(type.ElemKind) + "]";
  return type.isPointer() ? inSpace(type.AddrSpace) : scalarType(type.Kind);
}

std::string quotedName(const std::string& name) {
  auto isPlain = [](unsigned char c) { return std::isalnum(c) || std::strchr("-$._", c); };
  bool quoted = name.empty() || std::isdigit(static_cast<unsigned char>(name[0]));
  std::string spelt;
  for (unsigned char c : name) {
    quoted |= c == 0 || !isPlain(c);
    if (std::isprint(c) && c != '"' && c != '\\') {
      spelt += static_cast<char>(c);
      continue;
    }
    char digits[4];
    std::snprintf(digits, sizeof digits, "\\%02X", c);
    spelt += digits;
  }
  return quoted ? '"' + spelt + '"' : spelt;
}

std::string floatingConstant(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6e", value);
  const double read = std::strtod(text, nullptr);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const bool isFinite = (bits >> 52 & 0x7ff) != 0x7ff;
  if (!isFinite || std::memcmp(&read, &value, sizeof value) != 0)
    std::snprintf(text, sizeof text, "0x%016" PRIX64, bits);
  return text;
}

std::string integerConstant(const IRType& type, uint64_t value) {
  const unsigned bits = type.getBits();
  if (bits == 1)
    return value & 1 ? "true" : "false";
  const unsigned unused = bits ? 64 - bits : 0;
  return std::to_string(static_cast<int64_t>(value << unused) >> unused);
}

std::string operand(const IRValue& value) {
  const IRType& type = value.Type;
  return (type.isArray() ? inSpace(type.AddrSpace) : toLLVMType(type)) + " " + value.Name;
}

unsigned alignmentOf(const IRType& type) {
  if (type.isArray())
    return alignmentOf({type.ElemKind, false, IRTypeKind::Void, 0, {}});
  if (type.isPointer())
    return 8;
  return type.getBits() <= 8 ? 1 : type.getBits() / 8;
}

std::string extension(const IRType& type) {
  if (!type.isInteger() || type.getBits() >= 32)
    return "";
  return type.Signed ? "signext " : "zeroext ";
}

} // namespace proteus
