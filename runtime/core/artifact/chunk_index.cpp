#include "runtime/core/artifact/chunk_index.h"

#include <mutex>

namespace mneme::artifact {
namespace {

/// How far lookups run ahead of what they need, in entries: memory latency over lookup time.
constexpr size_t kPrefetchDistance = 16;

} // namespace

bool ChunkIndex::contains(const Hash128& hash) const {
  const std::shared_lock lock(mutex_);
  return entries_.contains(hash);
}

std::vector<bool> ChunkIndex::contains(std::span<const Hash128> hashes) const {
  std::vector<bool> answers(hashes.size());
  const std::shared_lock lock(mutex_);
  if (entries_.size() == 0)
    return answers;
  for (size_t index = 0; index < hashes.size(); ++index) {
    if (index + kPrefetchDistance < hashes.size())
      entries_.prefetch(hashes[index + kPrefetchDistance]);
    answers[index] = entries_.contains(hashes[index]);
  }
  return answers;
}

void ChunkIndex::announce(std::span<const Hash128> hashes) {
  const std::unique_lock lock(mutex_);
  entries_.reserve(entries_.size() + hashes.size());
  for (size_t index = 0; index < hashes.size(); ++index) {
    if (index + kPrefetchDistance < hashes.size())
      entries_.prefetch(hashes[index + kPrefetchDistance]);
    entries_.tryEmplace(hashes[index], {});
  }
}

void ChunkIndex::withdraw(std::span<const Hash128> hashes) {
  const std::unique_lock lock(mutex_);
  for (const Hash128& hash : hashes)
    if (const ChunkPlace* found = entries_.find(hash); found && found->storedBytes == 0)
      entries_.erase(hash);
}

void ChunkIndex::store(const HashMap<ChunkPlace>& places) {
  const std::unique_lock lock(mutex_);
  entries_.reserve(entries_.size() + places.size());
  places.forEach([this](const Hash128& hash, const ChunkPlace& place) {
    *entries_.tryEmplace(hash, place).first = place;
  });
}

void ChunkIndex::forgetFile(const std::string& file) {
  const std::unique_lock lock(mutex_);
  const auto id = fileIds_.find(file);
  if (id == fileIds_.end())
    return;
  std::vector<Hash128> gone;
  entries_.forEach([&](const Hash128& hash, const ChunkPlace& place) {
    if (place.storedBytes != 0 && place.file == id->second)
      gone.push_back(hash);
  });
  for (const Hash128& hash : gone)
    entries_.erase(hash);
}

std::optional<ChunkPlace> ChunkIndex::find(const Hash128& hash) const {
  const std::shared_lock lock(mutex_);
  const ChunkPlace* found = entries_.find(hash);
  return found && found->storedBytes != 0 ? std::optional(*found) : std::nullopt;
}

uint32_t ChunkIndex::fileId(const std::string& name) {
  const std::unique_lock lock(mutex_);
  const auto [found, isNew] = fileIds_.try_emplace(name, static_cast<uint32_t>(files_.size()));
  if (isNew)
    files_.push_back(name);
  return found->second;
}

uint32_t ChunkIndex::addFile() {
  const std::unique_lock lock(mutex_);
  files_.emplace_back();
  return static_cast<uint32_t>(files_.size() - 1);
}

void ChunkIndex::nameFile(uint32_t file, const std::string& name) {
  const std::unique_lock lock(mutex_);
  fileIds_.erase(files_[file]);
  files_[file] = name;
  fileIds_[name] = file;
}

std::string ChunkIndex::fileName(uint32_t file) const {
  const std::shared_lock lock(mutex_);
  return files_[file];
}

void ChunkIndex::learn(const std::string& file, const SnapshotTable& table) {
  HashMap<ChunkPlace> places;
  const uint32_t id = fileId(file);
  for (const TableRegion& region : table.regions) {
    uint64_t chunk = 0;
    for (const ChunkRun& run : region.runs) {
      for (uint64_t index = 0; run.kind == RunKind::Stored && run.file == 0 && index < run.count;
           ++index) {
        const ChunkRef& ref = table.refs[run.firstRef + index];
        places.tryEmplace(ref.hash, {ref.offset, id, ref.storedBytes,
                                     chunkSize(region.region.sizeBytes, chunk + index), ref.codec});
      }
      chunk += run.count;
    }
  }
  store(places);
}

} // namespace mneme::artifact
