#include "runtime/emulator/executor/device_printf.h"

#include <cstdio>
#include <cstring>

namespace mneme::device::cpu {

namespace {

/// Takes values out of the packed buffer in order.
class PackedReader {
public:
  /// With \p slotBytes not 0, each value begins at a multiple of it.
  PackedReader(const void* packed, size_t slotBytes)
      : base_(static_cast<const char*>(packed)), slotBytes_(slotBytes) {}

  template <typename T> T next() noexcept {
    T value{};
    const size_t align = slotBytes_ ? slotBytes_ : sizeof(T);
    offset_ = (offset_ + align - 1) / align * align;
    if (base_)
      memcpy(&value, base_ + offset_, sizeof(T));
    offset_ += sizeof(T);
    ++count_;
    return value;
  }
  int32_t count() const noexcept { return count_; }

private:
  const char* base_;
  size_t slotBytes_;
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

std::string formatAll(const char* format, PackedReader& reader) {
  std::string out;
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
  return out;
}

} // namespace

std::string formatPacked(const char* format, const void* packedArgs, int32_t& argumentCount) {
  PackedReader reader(packedArgs, 0);
  std::string out = formatAll(format, reader);
  argumentCount = reader.count();
  return out;
}

std::string formatSlots(const char* format, const uint64_t* values) {
  PackedReader reader(values, sizeof(uint64_t));
  return formatAll(format, reader);
}

void DevicePrint::addValues(const uint64_t* values, uint64_t count) {
  values_.insert(values_.end(), values, values + count);
  hasPieces_ = true;
}

void DevicePrint::addText(const char* text, uint64_t sizeBytes) {
  const bool isFormat = !hasPieces_;
  hasPieces_ = true;
  std::string copy = text ? std::string(text, strnlen(text, sizeBytes)) : std::string();
  if (isFormat) {
    format_ = std::move(copy);
    hasFormat_ = text != nullptr;
    return;
  }
  texts_.push_back(std::move(copy));
  values_.push_back(text ? reinterpret_cast<uint64_t>(texts_.back().c_str()) : 0);
}

int64_t DevicePrint::print() const {
  if (!hasFormat_)
    return -1;
  std::vector<uint64_t> values = values_;
  values.resize(values.size() + format_.size()); // a format may ask for more than there is
  const std::string text = formatSlots(format_.c_str(), values.data());
  fwrite(text.data(), 1, text.size(), toErrors_ ? stderr : stdout);
  return static_cast<int64_t>(text.size());
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
