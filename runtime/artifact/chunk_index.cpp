#include "runtime/artifact/chunk_index.h"

#include <algorithm>

namespace mneme::artifact {

bool ChunkIndex::contains(const Hash128& hash) const {
  const std::lock_guard lock(mutex_);
  return entries_.contains(hash);
}

std::vector<bool> ChunkIndex::contains(std::span<const Hash128> hashes) const {
  const std::lock_guard lock(mutex_);
  std::vector<bool> answers(hashes.size());
  for (size_t index = 0; index < hashes.size(); ++index)
    answers[index] = entries_.contains(hashes[index]);
  return answers;
}

void ChunkIndex::announce(const Hash128& hash) {
  const std::lock_guard lock(mutex_);
  entries_.try_emplace(hash);
}

void ChunkIndex::store(const Hash128& hash, const ChunkPlace& place) {
  const std::lock_guard lock(mutex_);
  entries_[hash] = {true, place};
}

void ChunkIndex::withdraw(const Hash128& hash) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(hash);
  if (found != entries_.end() && !found->second.isStored)
    entries_.erase(found);
}

void ChunkIndex::forgetFile(const std::string& file) {
  const std::lock_guard lock(mutex_);
  const auto name = std::find(files_.begin(), files_.end(), file);
  if (name == files_.end())
    return;
  const auto id = static_cast<uint32_t>(name - files_.begin());
  std::erase_if(entries_, [id](const auto& item) {
    return item.second.isStored && item.second.place.file == id;
  });
}

std::optional<ChunkPlace> ChunkIndex::find(const Hash128& hash) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(hash);
  if (found == entries_.end() || !found->second.isStored)
    return std::nullopt;
  return found->second.place;
}

uint32_t ChunkIndex::fileId(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(files_.begin(), files_.end(), name);
  if (found != files_.end())
    return static_cast<uint32_t>(found - files_.begin());
  files_.push_back(name);
  return static_cast<uint32_t>(files_.size() - 1);
}

std::string ChunkIndex::fileName(uint32_t file) const {
  const std::lock_guard lock(mutex_);
  return files_[file];
}

void ChunkIndex::learn(const std::string& file, const SnapshotTable& table) {
  const uint32_t id = fileId(file);
  for (const ChunkRef& chunk : table.chunks)
    if (chunk.file == 0 && chunk.codec != Codec::Zero)
      store(chunk.hash, {id, chunk.offset, chunk.storedBytes, chunk.rawBytes, chunk.codec});
}

} // namespace mneme::artifact
