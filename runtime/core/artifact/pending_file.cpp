#include "runtime/core/artifact/pending_file.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fcntl.h>

#include "runtime/core/artifact/json_fields.h"
#include "runtime/core/artifact/names.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/own_descriptors.h"

namespace mneme::artifact {
namespace {

/// What a session could ever leave; a larger file is not one of ours.
constexpr uint64_t kMaxFileBytes = 64ull << 20;
constexpr size_t kMaxNameBytes = 512;

bool parseEntry(std::istringstream& line, PendingInstance& entry, bool isWhole) {
  std::string staticHash, dynamicHash, sizeBytes;
  if (!(line >> staticHash >> dynamicHash) || !parseDecimal(staticHash, entry.staticHash) ||
      !parseDecimal(dynamicHash, entry.dynamicHash))
    return false;
  if (!isWhole)
    return true;
  if (!(line >> sizeBytes) || !parseDecimal(sizeBytes, entry.sizeBytes))
    return false;
  line.get();
  return static_cast<bool>(std::getline(line, entry.kernel));
}

} // namespace

void PendingFile::append(const std::string& line) noexcept {
  try {
    runApart([&] {
      const std::lock_guard lock(mutex_);
      const UniqueFd file(open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
      if (file)
        writeAll(file.get(), std::as_bytes(std::span(line)), path_);
    });
  } catch (const std::exception&) { // the recording itself matters more
  }
}

void PendingFile::begins(const PendingInstance& instance) noexcept {
  try {
    append("taken " + std::to_string(instance.staticHash) + ' ' +
           std::to_string(instance.dynamicHash) + ' ' + std::to_string(instance.sizeBytes) + ' ' +
           printable(instance.kernel).substr(0, kMaxNameBytes) + '\n');
  } catch (const std::exception&) { // as above
  }
}

void PendingFile::ends(uint64_t staticHash, uint64_t dynamicHash) noexcept {
  try {
    append("written " + std::to_string(staticHash) + ' ' + std::to_string(dynamicHash) + '\n');
  } catch (const std::exception&) { // as above
  }
}

void PendingFile::remove() noexcept {
  const std::lock_guard lock(mutex_);
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::filesystem::path pendingFileOf(const std::filesystem::path& sessionFile) {
  return std::filesystem::path(sessionFile).replace_extension(".pending");
}

std::vector<PendingInstance> readPendingFile(const std::filesystem::path& path) {
  std::vector<PendingInstance> pending;
  std::istringstream text;
  try {
    text.str(readTextFile(path, kMaxFileBytes));
  } catch (const Error&) { // none, or nothing to be believed
    return pending;
  }
  for (std::string whole; std::getline(text, whole);) {
    std::istringstream line(whole);
    std::string word;
    PendingInstance entry;
    line >> word;
    if (word == "taken" && parseEntry(line, entry, true)) {
      pending.push_back(std::move(entry));
    } else if (word == "written" && parseEntry(line, entry, false)) {
      const auto found = std::find_if(pending.begin(), pending.end(), [&](const auto& one) {
        return one.staticHash == entry.staticHash && one.dynamicHash == entry.dynamicHash;
      });
      if (found != pending.end())
        pending.erase(found);
    }
  }
  return pending;
}

} // namespace mneme::artifact
