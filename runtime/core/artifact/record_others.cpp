#include "runtime/core/artifact/record_others.h"

#include <algorithm>

#include "runtime/core/artifact/names.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"

namespace mneme::artifact {
namespace {

/// Returns an empty string, or why it failed. Existing files are not replaced, because they are
/// data too.
std::string putAside(const std::filesystem::path& path, const std::filesystem::path& aside,
                     const std::string& why) {
  std::filesystem::path target = aside;
  std::error_code error;
  for (unsigned number = 2; std::filesystem::exists(target, error); ++number)
    target = aside.string() + "-" + std::to_string(number);
  if (!error)
    std::filesystem::rename(path, target, error);
  if (error)
    return why + "; it cannot be renamed either: " + error.message();
  notice("an unreadable record was renamed to '" + target.string() + "': " + why);
  return {};
}

} // namespace

OthersRecord readOthers(const std::filesystem::path& directory, uint64_t staticHash) {
  const std::filesystem::path path = directory / recordName(staticHash);
  OthersRecord others;
  try {
    KernelRecord found = KernelRecord::load(path);
    others.instances = std::move(found.instances);
    others.launches = found.launches;
  } catch (const NewerFormat& error) {
    others.whyKept = error.what();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::ArtifactCorrupt)
      others.whyKept = putAside(path, directory / damagedName(staticHash), error.what());
    else if (error.code() != ErrorCode::NotFound)
      others.whyKept = error.what();
  }
  return others;
}

std::vector<std::filesystem::path> unmergedRecords(const std::filesystem::path& directory,
                                                   uint64_t staticHash) {
  const std::string begin = std::to_string(staticHash) + ".";
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(begin) && isUnmergedName(name))
      found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::filesystem::path> mergeUnmerged(const std::filesystem::path& directory,
                                                 uint64_t staticHash, OthersRecord& others) {
  std::vector<std::filesystem::path> merged;
  for (const std::filesystem::path& path : unmergedRecords(directory, staticHash))
    try {
      const KernelRecord found = KernelRecord::load(path);
      others.instances.insert(found.instances.begin(), found.instances.end());
      others.launches = std::max(others.launches, found.launches);
      merged.push_back(path);
    } catch (const Error&) { // it stays beside until it can be read
    }
  return merged;
}

} // namespace mneme::artifact
