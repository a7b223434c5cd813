// Room core/embed: blobs in PTX text, for programs that carry no machine code:
//   .weak .global .align 8 .b8 __mneme_ir_0123456789abcdef[4] = {77, 78, 69, 77};
#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "runtime/core/abi/blob_format.h"
#include "runtime/core/embed/containers.h"

namespace mneme::embed {
namespace {

bool isIdentifier(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// The values between braces, `size` of them at most; missing ones are zero, as PTX has it.
/// Nothing if this is not a list of bytes.
std::optional<std::vector<std::byte>> readList(std::string_view list, uint64_t size) {
  std::vector<std::byte> bytes;
  const char* end = list.data() + list.size();
  for (const char* next = list.data(); next < end;) {
    if (*next == ' ' || *next == ',' || *next == '\n' || *next == '\t') {
      ++next;
      continue;
    }
    unsigned value = 0;
    auto [rest, failure] = std::from_chars(next, end, value);
    if (failure != std::errc() || value > 255 || bytes.size() == size)
      return std::nullopt;
    bytes.push_back(static_cast<std::byte>(value));
    next = rest;
  }
  if (size > bytes.size() * 2 + 64) // zeros the assembler adds are few at the end of a blob
    return std::nullopt;
  bytes.resize(size);
  return bytes;
}

/// Reads `[size] = { ... }` at the start of `text`.
std::optional<std::vector<std::byte>> readInitializer(std::string_view text) {
  uint64_t size = 0;
  if (!text.starts_with('['))
    return std::nullopt;
  auto [rest, failure] = std::from_chars(text.data() + 1, text.data() + text.size(), size);
  text.remove_prefix(rest - text.data());
  constexpr std::string_view kBegin = "] = {";
  if (failure != std::errc() || !text.starts_with(kBegin))
    return std::nullopt;
  text.remove_prefix(kBegin.size());
  size_t end = text.find('}');
  if (end == std::string_view::npos)
    return std::nullopt;
  return readList(text.substr(0, end), size);
}

} // namespace

bool isPtx(Bytes bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    const bool isLine = text.starts_with("//");
    if (!isLine && !text.starts_with("/*"))
      return text.starts_with(".version");
    const size_t end = text.find(isLine ? "\n" : "*/", 2);
    if (end == std::string_view::npos)
      return false;
    text.remove_prefix(end + (isLine ? 1 : 2));
  }
}

void visitPtx(Bytes bytes, const VisitBlob& visit) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::string_view kPrefix = "__mneme_";
  for (size_t position = text.find(kPrefix); position != std::string_view::npos;
       position = text.find(kPrefix, position + 1)) {
    size_t end = position;
    while (end < text.size() && isIdentifier(text[end]))
      ++end;
    std::optional<BlobKind> kind = blobKindOfSymbol(text.substr(position, end - position));
    if (!kind || (position > 0 && isIdentifier(text[position - 1])))
      continue;
    if (std::optional<std::vector<std::byte>> blob = readInitializer(text.substr(end)))
      visit(*kind, *blob);
  }
}

} // namespace mneme::embed
