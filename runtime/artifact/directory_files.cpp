#include "runtime/artifact/directory_files.h"

#include <vector>

#include "runtime/artifact/names.h"
#include "runtime/artifact/recording.h"
#include "runtime/artifact/snapshot_file.h"

namespace mneme::artifact {

std::set<std::string> filesOfRecord(const std::filesystem::path& json) {
  const KernelRecord record = KernelRecord::load(json);
  const std::filesystem::path directory = json.parent_path();
  std::set<std::string> files{json.filename().string()};
  files.insert(record.modules.begin(), record.modules.end());
  std::vector<std::string> pending;
  for (const auto& [hash, instance] : record.instances)
    pending.insert(pending.end(), {instance.prologue, instance.epilogue});
  while (!pending.empty()) {
    const std::string name = pending.back();
    pending.pop_back();
    if (!files.insert(name).second)
      continue;
    const std::filesystem::path path = directory / name;
    const SnapshotTable table = readTable(openSnapshotFile(path), path);
    pending.insert(pending.end(), table.references.begin(), table.references.end());
  }
  return files;
}

std::vector<std::string> snapshotsByName(const std::filesystem::path& directory,
                                         uint64_t staticHash) {
  const std::string hash = "." + std::to_string(staticHash) + ".";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".mneme") && (name.starts_with("DeviceState.prologue" + hash) ||
                                     name.starts_with("DeviceState.epilogue" + hash)))
      names.push_back(name);
  }
  return names;
}

std::set<std::string> filesOfAllRecords(const std::filesystem::path& directory) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (isRecordName(entry.path().filename().string()))
      files.merge(filesOfRecord(entry.path()));
  return files;
}

} // namespace mneme::artifact
