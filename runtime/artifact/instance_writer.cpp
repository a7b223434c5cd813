#include "runtime/artifact/instance_writer.h"

#include <algorithm>

#include <fcntl.h>
#include <unistd.h>

#include "runtime/artifact/directory_files.h"
#include "runtime/artifact/directory_lock.h"
#include "runtime/artifact/names.h"
#include "runtime/artifact/session_file.h"
#include "runtime/artifact/snapshot_builder.h"
#include "runtime/artifact/snapshot_file.h"
#include "runtime/base/error.h"

namespace mneme::artifact {
namespace {

constexpr unsigned kMaxGenerations = 10000;

uint64_t rawBytesOf(const SnapshotDraft& draft) {
  uint64_t bytes = 0;
  for (const RegionDraft& region : draft.regions)
    bytes += region.region.sizeBytes;
  return bytes;
}

bool isSame(const Annotation& a, const Annotation& b) {
  return a.isSet == b.isSet && a.dataType == b.dataType && a.threshold == b.threshold &&
         a.thresholdKind == b.thresholdKind && a.norm == b.norm && a.tag == b.tag;
}

bool isSame(const Region& a, const Region& b) {
  return a.address == b.address && a.sizeBytes == b.sizeBytes && a.kind == b.kind &&
         a.isConstant == b.isConstant && a.name == b.name && isSame(a.annotation, b.annotation);
}

bool isSame(const SnapshotDraft& draft, const std::filesystem::path& path) {
  const SnapshotTable table = readTable(openSnapshotFile(path), path);
  if (draft.args != table.args || draft.regions.size() != table.regions.size())
    return false;
  for (size_t index = 0; index < table.regions.size(); ++index) {
    const RegionDraft& region = draft.regions[index];
    if (!isSame(region.region, table.regions[index]))
      return false;
    for (size_t chunk = 0; chunk < region.chunks.size(); ++chunk) {
      const ChunkDraft& mine = region.chunks[chunk];
      if ((mine.isZero ? zeroHash(mine.rawBytes) : mine.hash) !=
          table.chunks[table.firstChunk[index] + chunk].hash)
        return false;
    }
  }
  return true;
}

void syncDirectory(const std::filesystem::path& directory) noexcept {
  const UniqueFd file(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file)
    fsync(file.get());
}

} // namespace

bool InstanceWriter::isSameAsPublished(const InstanceDraft& draft,
                                       const Instance& published) const {
  try {
    return isSame(draft.prologue, options_.directory / published.prologue) &&
           isSame(draft.epilogue, options_.directory / published.epilogue);
  } catch (const Error&) { // damaged or gone: it is written again
    return false;
  }
}

void InstanceWriter::publishRecord(uint64_t staticHash, const Instance& instance) {
  store_.publish(staticHash, instance);
  syncDirectory(options_.directory);
}

InstanceCost InstanceWriter::write(uint64_t staticHash, const InstanceDraft& draft) {
  if (!store_.contains(staticHash))
    throw Error(ErrorCode::NotFound, "its kernel could not be written");
  InstanceCost cost;
  cost.rawBytes = rawBytesOf(draft.prologue) + rawBytesOf(draft.epilogue);
  if (const auto published = store_.published(staticHash, draft.instance.dynamicHash);
      published && isSameAsPublished(draft, *published)) {
    Instance instance = draft.instance;
    instance.prologue = published->prologue;
    instance.epilogue = published->epilogue;
    const DirectoryLock lock(options_.directory);
    publishRecord(staticHash, instance);
    return cost;
  }
  for (unsigned generation = 0; generation < kMaxGenerations; ++generation)
    if (writeFiles(staticHash, draft, generation, cost))
      return cost;
  throw Error(ErrorCode::IoFailed, "no free file name is left for it");
}

bool InstanceWriter::writeFiles(uint64_t staticHash, const InstanceDraft& draft,
                                unsigned generation, InstanceCost& cost) {
  Instance instance = draft.instance;
  const uint64_t dynamicHash = instance.dynamicHash;
  instance.prologue = snapshotName(false, staticHash, dynamicHash, generation);
  instance.epilogue = snapshotName(true, staticHash, dynamicHash, generation);
  for (const std::string& name : {instance.prologue, instance.epilogue})
    if (access((options_.directory / name).c_str(), F_OK) == 0)
      return false;
  PendingChunks pending;
  BuilderOptions builder{options_.compressionLevel, options_.compressionThreads, false};
  SnapshotBuilder prologue(options_.directory, instance.prologue, index_, pending, builder);
  prologue.write(draft.prologue);
  builder.storesEverything = options_.epilogueFormat == EpilogueFormat::Bytes;
  SnapshotBuilder epilogue(options_.directory, instance.epilogue, index_, pending, builder);
  epilogue.write(draft.epilogue);
  // A snapshot without a record is an orphan: nobody may look before both are there.
  const DirectoryLock lock(options_.directory);
  try {
    if (!prologue.publish())
      return false;
    if (!epilogue.publish()) {
      prologue.retract();
      return false;
    }
    publishRecord(staticHash, instance);
  } catch (...) {
    prologue.retract();
    epilogue.retract();
    throw;
  }
  for (const auto& [hash, place] : pending.places)
    index_.store(hash, place);
  cost.uniqueBytes = prologue.uniqueBytes() + epilogue.uniqueBytes();
  cost.storedBytes = prologue.fileBytes() + epilogue.fileBytes();
  return true;
}

void InstanceWriter::removeOrphans() noexcept {
  try {
    const DirectoryLock lock(options_.directory);
    if (hasOtherSession(options_.directory))
      return;
    std::vector<std::string> candidates;
    for (const uint64_t staticHash : store_.kernels())
      // What belongs to a record that was put aside stays with it.
      if (!std::filesystem::exists(options_.directory / damagedName(staticHash)))
        for (std::string& name : snapshotsByName(options_.directory, staticHash))
          candidates.push_back(std::move(name));
    const auto needed = filesOfAllRecords(options_.directory);
    for (const std::string& name : candidates)
      if (!needed.contains(name)) {
        index_.forgetFile(name);
        std::error_code ignored;
        std::filesystem::remove(options_.directory / name, ignored);
      }
  } catch (const std::exception&) { // an unreadable record may need them: they stay
  }
}

} // namespace mneme::artifact
