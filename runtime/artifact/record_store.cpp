#include "runtime/artifact/record_store.h"

#include <algorithm>
#include <utility>

#include <sys/stat.h>

#include "runtime/artifact/directory_lock.h"
#include "runtime/artifact/names.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/log.h"

namespace mneme::artifact {

uint64_t RecordStore::add(KernelRecord record, const std::vector<std::vector<std::byte>>& modules) {
  uint64_t written = 0;
  record.modules.clear();
  record.moduleHashes.clear();
  record.instances.clear();
  for (size_t index = 0; index < modules.size(); ++index) {
    record.modules.push_back(moduleName(record.staticHash, index));
    record.moduleHashes.push_back(toHex(hash128(modules[index])));
    const std::filesystem::path path = directory_ / record.modules.back();
    try {
      if (readFile(path) == modules[index])
        continue;
    } catch (const Error&) { // not there yet, or unreadable: written below
    }
    writeFileAtomically(path, modules[index]);
    written += modules[index].size();
  }
  const uint64_t hash = record.staticHash;
  Kernel& kernel = kernels_[hash];
  kernel = {};
  kernel.record = std::move(record);
  return written;
}

RecordStore::FileState RecordStore::stateOf(const std::filesystem::path& path) const {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0)
    return {};
  return {status.st_ino, static_cast<uint64_t>(status.st_size),
          static_cast<uint64_t>(status.st_ctim.tv_sec) * 1'000'000'000 +
              static_cast<uint64_t>(status.st_ctim.tv_nsec)};
}

/// Looks at what other sessions wrote, unless nobody did since this one.
void RecordStore::mergeOthers(Kernel& kernel) const {
  const std::filesystem::path path = directory_ / recordName(kernel.record.staticHash);
  if (const FileState now = stateOf(path); now == kernel.written && now.inode != 0)
    return;
  kernel.others.clear();
  kernel.othersLaunches = 0;
  try {
    KernelRecord found = KernelRecord::load(path);
    kernel.others = std::move(found.instances);
    kernel.othersLaunches = found.launches;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::NotFound)
      return;
    // A file that cannot be read may be somebody's data: it is put aside, not overwritten.
    const std::filesystem::path aside = directory_ / damagedName(kernel.record.staticHash);
    std::error_code ignored;
    std::filesystem::rename(path, aside, ignored);
    notice("an unreadable record was renamed to '" + aside.string() + "': " + error.what());
  }
}

/// The instances on disk, those of this session over them.
void RecordStore::write(Kernel& kernel) const {
  mergeOthers(kernel);
  const std::filesystem::path path = directory_ / recordName(kernel.record.staticHash);
  KernelRecord whole = kernel.record;
  whole.instances.insert(kernel.others.begin(), kernel.others.end());
  // Of several ranks or runs the one with most; each does about the same.
  whole.launches = std::max(whole.launches, kernel.othersLaunches);
  writeFileAtomically(path, whole.toJson());
  kernel.written = stateOf(path);
}

std::optional<Instance> RecordStore::published(uint64_t staticHash, uint64_t dynamicHash) {
  const auto kernel = kernels_.find(staticHash);
  if (kernel == kernels_.end())
    return std::nullopt;
  const auto& own = kernel->second.record.instances;
  if (const auto found = own.find(dynamicHash); found != own.end())
    return found->second;
  const std::filesystem::path path = directory_ / recordName(staticHash);
  Kernel& known = kernel->second;
  try {
    const FileState now = stateOf(path);
    if (now != known.written || now.inode == 0) {
      KernelRecord found = KernelRecord::load(path);
      known.others = std::move(found.instances);
      known.othersLaunches = found.launches;
      known.written = now;
    }
    if (const auto found = known.others.find(dynamicHash); found != known.others.end())
      return found->second;
  } catch (const Error&) { // no record, or a damaged one: nothing is published
  }
  return std::nullopt;
}

std::vector<uint64_t> RecordStore::kernels() const {
  std::vector<uint64_t> hashes;
  for (const auto& [hash, kernel] : kernels_)
    hashes.push_back(hash);
  return hashes;
}

void RecordStore::publish(uint64_t staticHash, const Instance& instance) {
  Kernel& kernel = kernels_.at(staticHash);
  auto& own = kernel.record.instances;
  const auto before = own.find(instance.dynamicHash) == own.end()
                          ? std::optional<Instance>()
                          : std::optional(own.at(instance.dynamicHash));
  own[instance.dynamicHash] = instance;
  try {
    write(kernel);
  } catch (...) {
    if (before)
      own[instance.dynamicHash] = *before;
    else
      own.erase(instance.dynamicHash);
    throw;
  }
  kernel.isDirty = false;
}

void RecordStore::setOccurrences(uint64_t staticHash, uint64_t dynamicHash, uint64_t occurrences) {
  const auto kernel = kernels_.find(staticHash);
  if (kernel == kernels_.end())
    return;
  auto& own = kernel->second.record.instances;
  const auto found = own.find(dynamicHash);
  if (found == own.end() || found->second.occurrences == occurrences)
    return;
  found->second.occurrences = occurrences;
  kernel->second.isDirty = true;
}

void RecordStore::setLaunches(uint64_t staticHash, uint64_t launches) {
  const auto kernel = kernels_.find(staticHash);
  if (kernel == kernels_.end() || kernel->second.record.launches == launches)
    return;
  kernel->second.record.launches = launches;
  kernel->second.isDirty = true;
}

void RecordStore::publishCounts() {
  const DirectoryLock lock(directory_);
  for (auto& [hash, kernel] : kernels_)
    if (std::exchange(kernel.isDirty, false))
      write(kernel);
}

} // namespace mneme::artifact
