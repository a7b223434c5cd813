#include "runtime/core/artifact/names.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace mneme::artifact {
namespace {

bool isDigit(char letter) noexcept { return letter >= '0' && letter <= '9'; }

bool take(std::string_view& rest, std::string_view start) noexcept {
  if (!rest.starts_with(start))
    return false;
  rest.remove_prefix(start.size());
  return true;
}

/// A number, `wanted` if given.
bool takeNumber(std::string_view& rest, std::optional<uint64_t> wanted = {}) noexcept {
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const std::string_view number = rest.substr(0, digits);
  rest.remove_prefix(digits);
  uint64_t value = 0;
  return digits > 0 &&
         (!wanted ||
          (std::from_chars(number.data(), number.data() + digits, value).ec == std::errc() &&
           value == *wanted));
}

/// `suffix`, or ".<number>" and `suffix`.
bool isEnd(std::string_view rest, std::string_view suffix) noexcept {
  return rest == suffix || (take(rest, ".") && takeNumber(rest) && rest == suffix);
}

} // namespace

std::string recordName(uint64_t staticHash) { return std::to_string(staticHash) + ".json"; }

std::string damagedName(uint64_t staticHash) { return recordName(staticHash) + ".damaged"; }

std::string unmergedName(uint64_t staticHash, unsigned number) {
  return std::to_string(staticHash) + ".unmerged-" + std::to_string(number) + ".json";
}

std::string moduleName(uint64_t staticHash, size_t index, bool isText) {
  return "RecordedIR_" + std::to_string(staticHash) +
         (index == 0 ? "" : "." + std::to_string(index)) + (isText ? ".ll" : ".bc");
}

bool isCodeForm(std::string_view form) noexcept {
  constexpr std::string_view kForms[] = {"cubin", "ptx", "fatbin", "cpu"};
  return std::ranges::find(kForms, form) != std::end(kForms);
}

std::string codeName(uint64_t staticHash, const std::string& form) {
  return "RecordedCode_" + std::to_string(staticHash) + "." + form;
}

std::string snapshotName(bool isEpilogue, uint64_t staticHash, uint64_t dynamicHash,
                         unsigned generation) {
  return std::string("DeviceState.") + (isEpilogue ? "epilogue." : "prologue.") +
         std::to_string(staticHash) + "." + std::to_string(dynamicHash) +
         (generation == 0 ? "" : "." + std::to_string(generation)) + ".mneme";
}

bool isPlainFileName(const std::string& name) noexcept {
  return !name.empty() && name.size() < 256 && name != "." && name != ".." &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

std::string printable(const std::string& text, size_t mostBytes) {
  std::string shown = text.substr(0, mostBytes);
  for (char& letter : shown)
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f)
      letter = '?';
  return shown;
}

bool isRecordName(const std::string& name) noexcept {
  std::string_view rest = name;
  return takeNumber(rest) && rest == ".json";
}

bool isUnmergedName(const std::string& name) noexcept {
  std::string_view rest = name;
  return takeNumber(rest) && take(rest, ".unmerged-") && takeNumber(rest) && rest == ".json";
}

bool isModuleName(const std::string& name, std::optional<uint64_t> staticHash) noexcept {
  std::string_view rest = name;
  if (take(rest, "RecordedCode_"))
    return takeNumber(rest, staticHash) && take(rest, ".") && isCodeForm(rest);
  return take(rest, "RecordedIR_") && takeNumber(rest, staticHash) &&
         (isEnd(rest, ".bc") || isEnd(rest, ".ll"));
}

bool isSnapshotName(const std::string& name, std::optional<uint64_t> staticHash) noexcept {
  std::string_view rest = name;
  return (take(rest, "DeviceState.prologue.") || take(rest, "DeviceState.epilogue.")) &&
         takeNumber(rest, staticHash) && take(rest, ".") && takeNumber(rest) &&
         isEnd(rest, ".mneme");
}

bool isSessionFileName(const std::string& name) noexcept {
  std::string_view rest = name;
  if (!take(rest, "unfinished-") || !takeNumber(rest))
    return false;
  const bool isLonger = take(rest, "-");
  const auto endsWith = [&](std::string_view end) {
    return isLonger ? rest.ends_with(end) : rest == end;
  };
  return endsWith(kSessionFileEnd) || endsWith(".json");
}

bool isTemporaryName(const std::string& name) noexcept {
  constexpr std::string_view kMark = ".tmp-";
  const size_t place = name.rfind(kMark);
  if (place == std::string::npos || place + kMark.size() == name.size() ||
      !std::all_of(name.begin() + static_cast<ptrdiff_t>(place + kMark.size()), name.end(),
                   [](char letter) { return isDigit(letter) || letter == '-'; }))
    return false;
  const std::string of = name.substr(0, place);
  return of == kStagingName || isRecordName(of) || isUnmergedName(of) || isModuleName(of) ||
         isSnapshotName(of) || isSessionFileName(of);
}

} // namespace mneme::artifact
