#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "runtime/core/base/error.h"
#include "runtime/devices/compare.h"
#include "runtime/devices/element.h"

namespace mneme::device {

namespace {

struct TypeName {
  DataType type;
  uint64_t sizeBytes;
  const char* name;
  const char* aliases; ///< separated by spaces
};

constexpr std::array<TypeName, 14> typeNames = {{
    {DataType::U8, 1, "u8", "uint8 uint8_t uchar byte"},
    {DataType::I8, 1, "i8", "int8 int8_t char schar"},
    {DataType::U16, 2, "u16", "uint16 uint16_t ushort"},
    {DataType::I16, 2, "i16", "int16 int16_t short"},
    {DataType::U32, 4, "u32", "uint32 uint32_t uint unsigned"},
    {DataType::I32, 4, "i32", "int32 int32_t int"},
    {DataType::U64, 8, "u64", "uint64 uint64_t ulong size_t"},
    {DataType::I64, 8, "i64", "int64 int64_t long"},
    {DataType::F16, 2, "f16", "float16 half fp16"},
    {DataType::F32, 4, "f32", "float32 float fp32"},
    {DataType::F64, 8, "f64", "float64 double fp64"},
    {DataType::BF16, 2, "bf16", "bfloat16"},
    {DataType::F8E4M3, 1, "f8e4m3", "fp8_e4m3 float8_e4m3 e4m3"},
    {DataType::F8E5M2, 1, "f8e5m2", "fp8_e5m2 float8_e5m2 e5m2"},
}};

const TypeName& entryOf(DataType type) noexcept {
  const auto index = static_cast<size_t>(type);
  return typeNames[index < typeNames.size() ? index : 0];
}

bool isAlias(std::string_view aliases, std::string_view text) {
  for (size_t at = 0; at < aliases.size();) {
    const size_t end = std::min(aliases.find(' ', at), aliases.size());
    if (aliases.substr(at, end - at) == text)
      return true;
    at = end + 1;
  }
  return false;
}

template <typename Real> std::string shortest(Real value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string result(text, end);
  if (result.find_first_not_of("-0123456789") == std::string::npos)
    result += ".0";
  return result;
}

std::string valueText(DataType type, uint64_t bits) {
  switch (type) {
  case DataType::F64:
    return shortest(decode<DataType::F64>(bits));
  case DataType::F32:
    return shortest(static_cast<float>(decode<DataType::F32>(bits)));
  case DataType::F16:
    return shortest(static_cast<float>(decode<DataType::F16>(bits)));
  case DataType::BF16:
    return shortest(static_cast<float>(decode<DataType::BF16>(bits)));
  case DataType::F8E4M3:
    return shortest(static_cast<float>(decode<DataType::F8E4M3>(bits)));
  case DataType::F8E5M2:
    return shortest(static_cast<float>(decode<DataType::F8E5M2>(bits)));
  case DataType::I8:
    return std::to_string(static_cast<int8_t>(bits));
  case DataType::I16:
    return std::to_string(static_cast<int16_t>(bits));
  case DataType::I32:
    return std::to_string(static_cast<int32_t>(bits));
  case DataType::I64:
    return std::to_string(static_cast<int64_t>(bits));
  default:
    return std::to_string(bits);
  }
}

} // namespace

uint64_t sizeOf(DataType type) noexcept { return entryOf(type).sizeBytes; }

const char* nameOf(DataType type) noexcept { return entryOf(type).name; }

DataType parseDataType(const std::string& text) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  std::string known;
  for (const TypeName& entry : typeNames) {
    if (lower == entry.name || isAlias(entry.aliases, lower))
      return entry.type;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Error(ErrorCode::InvalidArgument,
              "'" + text + "' is not an element type; known types are " + known);
}

std::string formatElement(DataType type, uint64_t bits) {
  const uint64_t size = sizeOf(type);
  if (size < 8)
    bits &= (uint64_t{1} << (8 * size)) - 1;
  char hex[24];
  snprintf(hex, sizeof hex, "0x%0*llx", static_cast<int>(2 * size),
           static_cast<unsigned long long>(bits));
  return std::string(hex) + " (" + valueText(type, bits) + ")";
}

} // namespace mneme::device
