#include "runtime/core/base/pinned_file.h"

#include <filesystem>

#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/own_descriptors.h"

namespace mneme {
namespace {

constexpr size_t kHashDigits = 16;

uint64_t hashOf(const std::string& path) {
  return hash64(apart([&] { return readFile(path); }));
}

} // namespace

PinnedFile pinnedFileIn(std::string_view text) {
  const size_t digits = text.size() > kHashDigits ? text.size() - kHashDigits : 0;
  const std::string_view hash = text.substr(digits);
  const bool isPinned = digits > 1 && text[digits - 1] == '@' &&
                        hash.find_first_not_of("0123456789abcdef") == hash.npos;
  if (!isPinned)
    return {std::string(text), std::nullopt};
  return {std::string(text.substr(0, digits - 1)), std::stoull(std::string(hash), nullptr, 16)};
}

std::optional<uint64_t> hashOfFile(const std::string& path) {
  try {
    return hashOf(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string pinnedText(const std::string& path, const std::string& what) {
  std::error_code error;
  const std::string found = std::filesystem::canonical(path, error).string();
  if (error || !std::filesystem::is_regular_file(found))
    throw Error(ErrorCode::InvalidArgument, "there is no " + what + " '" + path + "'");
  return found + "@" + toHex(hashOf(found));
}

} // namespace mneme
