#include "runtime/core/artifact/directory_files.h"

#include <charconv>
#include <vector>

#include <unistd.h>

#include "runtime/core/artifact/layers.h"
#include "runtime/core/artifact/names.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"

namespace mneme::artifact {
namespace {

// The instances, which may be many, come after it.
constexpr size_t kHeadBytes = 1 << 20;

/// False for one that cannot be read now.
bool saysItIsRecord(const std::filesystem::path& json) {
  try {
    const UniqueFd file = openRegularFile(json);
    std::string head(kHeadBytes, '\0');
    const ssize_t count = read(file.get(), head.data(), head.size());
    head.resize(count > 0 ? static_cast<size_t>(count) : 0);
    return head.find("\"StaticHash\"") != std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

/// \throws Error{InvalidArgument} for what lies elsewhere, which belongs to another recording.
void refuseElsewhere(const std::filesystem::path& json, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!isPlainFileName(name))
      throw Error(ErrorCode::InvalidArgument,
                  "'" + json.string() + "' names '" + name +
                      "', which is not in the record's own directory; it can be replayed, but "
                      "only whole recordings are copied, moved or deleted");
}

} // namespace

bool isRecord(const std::filesystem::path& json) noexcept {
  try {
    const std::string name = json.filename().string();
    return (isRecordName(name) || isUnmergedName(name)) &&
           (saysItIsRecord(json) || !companionsOf(json).empty());
  } catch (const std::exception&) {
    return false;
  }
}

std::set<std::string> companionsOf(const std::filesystem::path& json) {
  uint64_t hash = 0;
  const std::string stem = json.stem().string();
  std::from_chars(stem.data(), stem.data() + stem.size(), hash);
  const std::filesystem::path directory = json.has_parent_path() ? json.parent_path() : ".";
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (isModuleName(name, hash) || isSnapshotName(name, hash))
      names.insert(name);
  }
  return names;
}

std::set<std::string> filesOfRecord(const std::filesystem::path& json) {
  const KernelRecord record = KernelRecord::load(json);
  const std::filesystem::path directory = json.parent_path();
  std::set<std::string> files{json.filename().string()};
  refuseElsewhere(json, record.modules);
  files.insert(record.modules.begin(), record.modules.end());
  for (const RecordedImage& image : record.images) {
    refuseElsewhere(json, {image.file});
    files.insert(image.file);
  }
  for (const std::string& name : snapshotsOf(record)) {
    refuseElsewhere(json, {name});
    files.merge(filesOfSnapshot(directory, name));
  }
  return files;
}

std::set<std::string> snapshotsOf(const KernelRecord& record) {
  std::set<std::string> names;
  for (const auto& [hash, instance] : record.instances)
    names.insert({instance.prologue, instance.epilogue});
  return names;
}

std::vector<std::string> snapshotsByName(const std::filesystem::path& directory,
                                         uint64_t staticHash) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (isSnapshotName(name, staticHash))
      names.push_back(name);
  }
  return names;
}

std::set<std::string> filesOfAllRecords(const std::filesystem::path& directory) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (isRecord(entry.path()))
      files.merge(filesOfRecord(entry.path()));
  return files;
}

} // namespace mneme::artifact
