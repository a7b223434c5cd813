#include "runtime/artifact/names.h"

#include <algorithm>
#include <cctype>

namespace mneme::artifact {

std::string recordName(uint64_t staticHash) { return std::to_string(staticHash) + ".json"; }

std::string damagedName(uint64_t staticHash) { return recordName(staticHash) + ".damaged"; }

std::string moduleName(uint64_t staticHash, size_t index) {
  return "RecordedIR_" + std::to_string(staticHash) +
         (index == 0 ? "" : "." + std::to_string(index)) + ".bc";
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

std::string printable(const std::string& text) {
  std::string shown = text.substr(0, 200);
  for (char& letter : shown)
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f)
      letter = '?';
  return shown;
}

bool isTemporaryName(const std::string& name) noexcept {
  const size_t place = name.rfind(".tmp-");
  return place != std::string::npos && place + 5 < name.size() &&
         std::all_of(name.begin() + static_cast<ptrdiff_t>(place) + 5, name.end(),
                     [](unsigned char letter) { return std::isdigit(letter) || letter == '-'; });
}

bool isRecordName(const std::string& name) noexcept {
  constexpr size_t suffix = 5; // ".json"
  return name.size() > suffix && name.ends_with(".json") &&
         std::all_of(name.begin(), name.end() - suffix,
                     [](unsigned char letter) { return std::isdigit(letter); });
}

} // namespace mneme::artifact
