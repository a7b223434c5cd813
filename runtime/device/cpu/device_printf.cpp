#include "runtime/device/cpu/device_printf.h"

#include <cstdio>
#include <cstring>

namespace mneme::device::cpu {

namespace {

/// Takes values out of the packed buffer in order.
class PackedReader {
public:
  explicit PackedReader(const void* packed) : base_(static_cast<const char*>(packed)) {}

  template <typename T> T next() noexcept {
    T value{};
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    if (base_)
      memcpy(&value, base_ + offset_, sizeof(T));
    offset_ += sizeof(T);
    ++count_;
    return value;
  }
  int32_t count() const noexcept { return count_; }

private:
  const char* base_;
  size_t offset_ = 0;
  int32_t count_ = 0;
};

/// One conversion: "%-8.3lf" is flags, width, precision, length and kind.
struct Conversion {
  std::string flags;
  int width = -1;
  int precision = -1;
  std::string length;
  char kind = 0;
};

int parseNumber(const char*& at, PackedReader& reader) {
  if (*at == '*') {
    ++at;
    return reader.next<int32_t>();
  }
  int value = 0;
  for (; *at >= '0' && *at <= '9'; ++at)
    value = value < 100000 ? value * 10 + (*at - '0') : value;
  return value;
}

Conversion parseConversion(const char*& at, PackedReader& reader) {
  Conversion result;
  while (*at && strchr("-+ #0", *at))
    result.flags += *at++;
  if (*at == '*' || (*at >= '0' && *at <= '9'))
    result.width = parseNumber(at, reader);
  if (result.width < -1) {
    result.flags += '-';
    result.width = -result.width;
  }
  if (*at == '.') {
    ++at;
    result.precision = parseNumber(at, reader);
  }
  while (*at && strchr("hlLqjzt", *at))
    result.length += *at++;
  result.kind = *at;
  if (*at)
    ++at;
  return result;
}

template <typename T>
void appendValue(std::string& out, const Conversion& conversion, const char* length, T value) {
  std::string format = "%" + conversion.flags;
  if (conversion.width >= 0)
    format += std::to_string(conversion.width);
  if (conversion.precision >= 0)
    format += "." + std::to_string(conversion.precision);
  format += length;
  format += conversion.kind;
  char small[128];
  const int needed = snprintf(small, sizeof small, format.c_str(), value);
  if (needed < 0)
    return;
  if (static_cast<size_t>(needed) < sizeof small) {
    out.append(small, static_cast<size_t>(needed));
    return;
  }
  std::string large(static_cast<size_t>(needed) + 1, '\0');
  snprintf(large.data(), large.size(), format.c_str(), value);
  out.append(large, 0, static_cast<size_t>(needed));
}

bool isWide(const std::string& length) {
  return length.find_first_of("ljztqL") != std::string::npos;
}

void appendInteger(std::string& out, const Conversion& conversion, PackedReader& reader) {
  const bool isSigned = conversion.kind == 'd' || conversion.kind == 'i';
  if (isWide(conversion.length)) {
    if (isSigned)
      appendValue(out, conversion, "ll", static_cast<long long>(reader.next<int64_t>()));
    else
      appendValue(out, conversion, "ll", static_cast<unsigned long long>(reader.next<uint64_t>()));
    return;
  }
  const char* length = conversion.length == "hh" ? "hh" : conversion.length == "h" ? "h" : "";
  appendValue(out, conversion, length, reader.next<int32_t>());
}

void appendString(std::string& out, const Conversion& conversion, PackedReader& reader) {
  const char* text = reader.next<const char*>();
  if (!text)
    text = "(null)";
  const size_t length = conversion.precision >= 0
                            ? strnlen(text, static_cast<size_t>(conversion.precision))
                            : strlen(text);
  const size_t padding = conversion.width > 0 && static_cast<size_t>(conversion.width) > length
                             ? static_cast<size_t>(conversion.width) - length
                             : 0;
  const bool isLeft = conversion.flags.find('-') != std::string::npos;
  out.append(isLeft ? 0 : padding, ' ').append(text, length).append(isLeft ? padding : 0, ' ');
}

void appendConversion(std::string& out, const Conversion& conversion, PackedReader& reader,
                      const char* start, const char* end) {
  switch (conversion.kind) {
  case '%':
    out += '%';
    break;
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X':
  case 'o':
    appendInteger(out, conversion, reader);
    break;
  case 'c':
    appendValue(out, conversion, "", reader.next<int32_t>());
    break;
  case 'f':
  case 'F':
  case 'e':
  case 'E':
  case 'g':
  case 'G':
  case 'a':
  case 'A':
    appendValue(out, conversion, "", reader.next<double>());
    break;
  case 's':
    appendString(out, conversion, reader);
    break;
  case 'p':
    appendValue(out, conversion, "", reader.next<void*>());
    break;
  default:
    out.append(start, end);
    break;
  }
}

} // namespace

std::string formatPacked(const char* format, const void* packedArgs, int32_t& argumentCount) {
  std::string out;
  PackedReader reader(packedArgs);
  for (const char* at = format; *at;) {
    const char* percent = strchrnul(at, '%');
    out.append(at, percent);
    at = percent;
    if (!*at)
      break;
    ++at;
    const Conversion conversion = parseConversion(at, reader);
    appendConversion(out, conversion, reader, percent, at);
  }
  argumentCount = reader.count();
  return out;
}

int32_t devicePrintf(const char* format, const void* packedArgs) {
  if (!format)
    return -1;
  int32_t argumentCount = 0;
  const std::string text = formatPacked(format, packedArgs, argumentCount);
  fwrite(text.data(), 1, text.size(), stdout);
  return argumentCount;
}

} // namespace mneme::device::cpu
