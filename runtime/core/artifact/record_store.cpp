#include "runtime/core/artifact/record_store.h"

#include <algorithm>
#include <utility>

#include <sys/stat.h>

#include "runtime/core/artifact/names.h"
#include "runtime/core/artifact/record_others.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/parallel.h"

namespace mneme::artifact {

namespace {

/// LLVM's bitcode begins with "BC", 0xc0, 0xde, or with the magic number of its wrapper.
bool isText(const std::vector<std::byte>& ir) {
  constexpr std::byte kFirst[] = {std::byte{'B'}, std::byte{0xde}};
  return !ir.empty() && ir[0] != kFirst[0] && ir[0] != kFirst[1];
}

} // namespace

/// Returns the bytes written: none if the file has this content already.
uint64_t RecordStore::writeCode(uint64_t staticHash, const std::filesystem::path& path,
                                std::span<const std::byte> bytes) {
  try {
    if (std::ranges::equal(readFile(path), bytes))
      return 0;
  } catch (const Error&) { // not there yet, or unreadable: written below
  }
  code_.push_back({staticHash, writeTemporary(path, bytes), path, {}});
  return bytes.size();
}

/// Returns the bytes written.
uint64_t RecordStore::addImages(KernelRecord& record) {
  uint64_t written = 0;
  for (RecordedImage& image : record.images) {
    if (!image.content) // of a record that was read: its file is there
      continue;
    image.file = codeName(record.staticHash, image.form);
    image.hash = toHex(hash128(*image.content));
    written += writeCode(record.staticHash, directory_ / image.file, *image.content);
    image.content = nullptr;
  }
  return written;
}

uint64_t RecordStore::add(KernelRecord record, const std::vector<std::vector<std::byte>>& modules) {
  uint64_t written = addImages(record);
  record.modules.clear();
  record.moduleHashes.clear();
  record.instances.clear();
  for (size_t index = 0; index < modules.size(); ++index) {
    record.modules.push_back(record.codeForm.empty()
                                 ? moduleName(record.staticHash, index, isText(modules[index]))
                                 : codeName(record.staticHash, record.codeForm));
    record.moduleHashes.push_back(toHex(hash128(modules[index])));
    const std::filesystem::path path = directory_ / record.modules.back();
    if (!isLinked(record, path))
      written += writeCode(record.staticHash, path, modules[index]);
  }
  const uint64_t hash = record.staticHash;
  Kernel& kernel = kernels_[hash];
  kernel = {};
  kernel.record = std::move(record);
  return written;
}

/// Whether the image of another kernel has the same content and becomes this kernel's, too: images
/// of many kernels may be large.
bool RecordStore::isLinked(const KernelRecord& record, const std::filesystem::path& path) {
  std::error_code failure;
  if (record.codeForm.empty() || std::filesystem::exists(path, failure))
    return false;
  for (const auto& [hash, known] : kernels_) {
    if (hash == record.staticHash || known.record.codeForm != record.codeForm ||
        known.record.moduleHashes != record.moduleHashes)
      continue;
    const std::filesystem::path image = directory_ / known.record.modules.at(0);
    const auto waiting = std::ranges::find(code_, image, &Code::path);
    if (waiting != code_.end()) {
      waiting->links.emplace_back(record.staticHash, path);
      return true;
    }
    std::filesystem::create_hard_link(image, path, failure);
    if (!failure)
      return true;
  }
  return false;
}

/// Gives a file that is on the disk its name, and the names that it has for other kernels.
void RecordStore::nameCode(const Code& code, std::map<uint64_t, std::string>& failures) {
  std::error_code error;
  std::filesystem::rename(code.file.path, code.path, error);
  if (error)
    failures[code.staticHash] = "cannot publish '" + code.path.string() + "': " + error.message();
  for (const auto& [hash, link] : code.links) {
    if (!error)
      std::filesystem::create_hard_link(code.path, link, error);
    if (error)
      failures[hash] = "cannot publish '" + link.string() + "': " + error.message();
  }
}

std::map<uint64_t, std::string> RecordStore::publishCode() {
  const std::vector<Code> codes = std::exchange(code_, {});
  std::vector<const UnsyncedFile*> files;
  for (const Code& code : codes)
    files.push_back(&code.file);
  const std::vector<std::string> unsynced = syncTogether(files);
  std::map<uint64_t, std::string> failures;
  for (size_t index = 0; index < codes.size(); ++index) {
    const Code& code = codes[index];
    if (unsynced[index].empty()) {
      nameCode(code, failures);
      continue;
    }
    std::error_code ignored;
    std::filesystem::remove(code.file.path, ignored);
    failures[code.staticHash] = unsynced[index];
    for (const auto& [hash, link] : code.links)
      failures[hash] = unsynced[index];
  }
  for (const auto& [hash, why] : failures)
    kernels_.erase(hash);
  return failures;
}

RecordStore::FileState RecordStore::stateOf(const std::filesystem::path& path) const {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0)
    return {};
  return {status.st_ino, static_cast<uint64_t>(status.st_size),
          static_cast<uint64_t>(status.st_ctim.tv_sec) * 1'000'000'000 +
              static_cast<uint64_t>(status.st_ctim.tv_nsec)};
}

/// Merges what other sessions wrote, if any wrote since this one. Returns why their file must not
/// be replaced, or an empty string.
std::string RecordStore::mergeOthers(Kernel& kernel) const {
  const uint64_t hash = kernel.record.staticHash;
  const FileState now = stateOf(directory_ / recordName(hash));
  if (now == kernel.written && now.inode != 0 && kernel.hasMerged)
    return {};
  OthersRecord others = readOthers(directory_, hash);
  kernel.hasMerged = others.whyKept.empty();
  if (kernel.hasMerged)
    kernel.merged = mergeUnmerged(directory_, hash, others);
  kernel.others = std::move(others.instances);
  kernel.othersLaunches = others.launches;
  return others.whyKept;
}

/// The instances on disk, those of this session over them.
void RecordStore::write(Kernel& kernel) const {
  if (const std::string whyKept = mergeOthers(kernel); !whyKept.empty())
    return writeBeside(kernel, whyKept);
  const std::filesystem::path path = directory_ / recordName(kernel.record.staticHash);
  KernelRecord whole = kernel.record;
  whole.instances.insert(kernel.others.begin(), kernel.others.end());
  // Several ranks or runs do about the same: the one with most launches counts.
  whole.launches = std::max(whole.launches, kernel.othersLaunches);
  writeFileAtomically(path, whole.toJson());
  kernel.written = stateOf(path);
  kernel.beside.clear();
  for (const std::filesystem::path& file : std::exchange(kernel.merged, {})) {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
  }
}

void RecordStore::writeBeside(Kernel& kernel, const std::string& whyKept) const {
  const uint64_t hash = kernel.record.staticHash;
  const bool isNew = kernel.beside.empty();
  for (unsigned number = 1; kernel.beside.empty(); ++number)
    if (const auto path = directory_ / unmergedName(hash, number); !std::filesystem::exists(path))
      kernel.beside = path;
  writeFileAtomically(kernel.beside, kernel.record.toJson());
  if (isNew)
    notice("a record cannot be read now and stays as it is; what is recorded goes into '" +
           kernel.beside.string() + "' and into the record once it can be read: " + whyKept);
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

std::optional<Instance> RecordStore::enter(uint64_t staticHash, const Instance& instance) {
  Kernel& kernel = kernels_.at(staticHash);
  ++kernel.entered;
  const auto [own, isNew] = kernel.record.instances.try_emplace(instance.dynamicHash, instance);
  if (isNew)
    return std::nullopt;
  return std::exchange(own->second, instance);
}

void RecordStore::leave(uint64_t staticHash, const Instance& instance,
                        const std::optional<Instance>& before) {
  const auto kernel = kernels_.find(staticHash);
  if (kernel == kernels_.end())
    return;
  if (kernel->second.entered != 0)
    --kernel->second.entered;
  auto& own = kernel->second.record.instances;
  const auto found = own.find(instance.dynamicHash);
  if (found == own.end() || found->second.prologue != instance.prologue)
    return;
  if (before)
    found->second = *before;
  else
    own.erase(found);
}

std::map<uint64_t, std::string> RecordStore::writeAll(const std::vector<Kernel*>& kernels) {
  std::vector<std::string> failures(kernels.size());
  parallelFor(kernels.size(), kSyncThreads, [&](uint64_t index) {
    try {
      write(*kernels[index]);
      kernels[index]->isDirty = false;
    } catch (const std::exception& error) {
      failures[index] = error.what();
    }
    kernels[index]->entered = 0;
  });
  std::map<uint64_t, std::string> byKernel;
  for (size_t index = 0; index < kernels.size(); ++index)
    if (!failures[index].empty())
      byKernel[kernels[index]->record.staticHash] = failures[index];
  return byKernel;
}

std::map<uint64_t, std::string> RecordStore::publish() {
  std::vector<Kernel*> due;
  for (auto& [hash, kernel] : kernels_)
    if (kernel.entered != 0)
      due.push_back(&kernel);
  return writeAll(due);
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
  const DirectoryLock held = lock();
  std::vector<Kernel*> due;
  for (auto& [hash, kernel] : kernels_)
    if (kernel.isDirty)
      due.push_back(&kernel);
  if (const auto failures = writeAll(due); !failures.empty())
    throw Error(ErrorCode::IoFailed, failures.begin()->second);
}

DirectoryLock RecordStore::lock() {
  const bool isKnown = patience_.wasInVain;
  DirectoryLock held(directory_, patience_);
  if (held.isTaken() && !isKnown)
    notice(held.holder() + " keeps the directory '" + directory_.string() +
           "' locked; the recording is written to it without waiting any longer");
  return held;
}

} // namespace mneme::artifact
