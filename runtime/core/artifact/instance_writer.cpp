#include "runtime/core/artifact/instance_writer.h"

#include <set>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "runtime/core/artifact/directory_files.h"
#include "runtime/core/artifact/names.h"
#include "runtime/core/artifact/session_file.h"
#include "runtime/core/artifact/snapshot_builder.h"
#include "runtime/core/artifact/snapshot_file.h"
#include "runtime/core/base/error.h"

namespace mneme::artifact {
namespace {

constexpr unsigned kMaxGenerations = 10000;

bool isSame(const Region& a, const Region& b) {
  return a.address == b.address && a.sizeBytes == b.sizeBytes && a.kind == b.kind &&
         a.isConstant == b.isConstant && a.name == b.name && a.annotation == b.annotation &&
         a.parts == b.parts;
}

void nameFiles(Instance& instance, uint64_t staticHash, unsigned generation) {
  instance.prologue = snapshotName(false, staticHash, instance.dynamicHash, generation);
  instance.epilogue = snapshotName(true, staticHash, instance.dynamicHash, generation);
}

void syncDirectory(const std::filesystem::path& directory) noexcept {
  const UniqueFd file(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file)
    fsync(file.get());
}

} // namespace

std::vector<RegionPlan> InstanceWriter::plan(const SnapshotDraft& draft,
                                             const std::vector<RegionChain>& similar,
                                             bool isWhole) const {
  std::vector<RegionPlan> plans;
  for (const RegionDraft& region : draft.regions)
    plans.push_back(ledger_.plan(region, similar, isWhole));
  boundTables(plans);
  // The format has every base once in a snapshot.
  std::set<std::pair<const Layer*, uint32_t>> bases;
  for (RegionPlan& plan : plans)
    if (plan.base && !bases.emplace(plan.base->layer.get(), plan.base->index).second)
      makeWhole(plan);
  return plans;
}

/// The published snapshot's regions if the draft says the same.
std::optional<std::vector<RegionChain>>
InstanceWriter::publishedTwin(const SnapshotDraft& draft, const std::string& file) const {
  LayerLoader loader(options_.directory);
  const std::shared_ptr<const Layer> layer = loader.load(file);
  const SnapshotTable& table = layer->table;
  if (draft.args != table.args || draft.regions.size() != table.regions.size())
    return std::nullopt;
  std::vector<RegionChain> chains = loader.chains(layer);
  for (size_t index = 0; index < chains.size(); ++index)
    if (!isSame(draft.regions[index].region, table.regions[index].region) ||
        !hasContent(ledger_.plan(draft.regions[index], {}, false), *chains[index]))
      return std::nullopt;
  index_.learn(file, table);
  return chains;
}

bool InstanceWriter::isPublished(const InstanceDraft& draft, const Instance& published) {
  try {
    auto prologue = publishedTwin(draft.prologue, published.prologue);
    if (!prologue)
      return false;
    ledger_.add(draft.prologue.id, std::move(*prologue));
    auto epilogue = publishedTwin(draft.epilogue, published.epilogue);
    if (!epilogue)
      return false;
    ledger_.add(draft.epilogue.id, std::move(*epilogue));
    return true;
  } catch (const Error&) { // damaged or gone: it is written again
    return false;
  }
}

void InstanceWriter::publishRecord(uint64_t staticHash, const Instance& instance) {
  store_.publish(staticHash, instance);
  syncDirectory(options_.directory);
}

InstanceCost InstanceWriter::write(uint64_t staticHash, InstanceDraft& draft) {
  if (!store_.contains(staticHash))
    throw Error(ErrorCode::NotFound, "its kernel could not be written");
  InstanceCost cost;
  cost.rawBytes = memoryBytes(draft.prologue) + memoryBytes(draft.epilogue);
  try {
    if (const auto published = store_.published(staticHash, draft.instance.dynamicHash);
        published && isPublished(draft, *published)) {
      Instance instance = draft.instance;
      instance.prologue = published->prologue;
      instance.epilogue = published->epilogue;
      const DirectoryLock lock = store_.lock();
      publishRecord(staticHash, instance);
      settle(draft);
      return cost;
    }
    const InstanceCost written = writeFiles(staticHash, draft);
    settle(draft);
    cost.uniqueBytes = written.uniqueBytes;
    cost.storedBytes = written.storedBytes;
    return cost;
  } catch (...) {
    ledger_.forget(draft.prologue.id);
    ledger_.forget(draft.epilogue.id);
    throw;
  }
}

void InstanceWriter::settle(const InstanceDraft& draft) {
  ledger_.settle(draft.prologue.id);
  ledger_.settle(draft.epilogue.id);
}

bool InstanceWriter::isFree(const Instance& instance) const {
  return access((options_.directory / instance.prologue).c_str(), F_OK) != 0 &&
         access((options_.directory / instance.epilogue).c_str(), F_OK) != 0;
}

InstanceCost InstanceWriter::writeFiles(uint64_t staticHash, InstanceDraft& draft) {
  Instance instance = draft.instance;
  unsigned generation = 0;
  nameFiles(instance, staticHash, generation);
  while (!isFree(instance) && generation < kMaxGenerations)
    nameFiles(instance, staticHash, ++generation);
  PendingChunks pending;
  BuilderOptions builder{options_.compressionLevel, &threads_, false, release_};
  SnapshotBuilder prologue(options_.directory, instance.prologue, index_, pending, builder);
  prologue.write(plan(draft.prologue, {}, false), draft.prologue.args, draft.prologue.storage);
  ledger_.add(draft.prologue.id, prologue.regions());
  builder.storesEverything = options_.epilogueFormat == EpilogueFormat::Bytes;
  SnapshotBuilder epilogue(options_.directory, instance.epilogue, index_, pending, builder);
  epilogue.write(plan(draft.epilogue, prologue.regions(), builder.storesEverything),
                 draft.epilogue.args, draft.epilogue.storage);
  publishFiles(staticHash, instance, generation, prologue, epilogue);
  ledger_.add(draft.epilogue.id, epilogue.regions());
  index_.store(pending.places);
  return {0, prologue.uniqueBytes() + epilogue.uniqueBytes(),
          prologue.fileBytes() + epilogue.fileBytes()};
}

/// Publishes the files under the names chosen before, or the next free ones if another session has
/// taken them meanwhile.
void InstanceWriter::publishFiles(uint64_t staticHash, Instance instance, unsigned generation,
                                  SnapshotBuilder& prologue, SnapshotBuilder& epilogue) {
  // A snapshot without a record is an orphan, so other processes must not look before both exist.
  const DirectoryLock lock = store_.lock();
  try {
    for (; generation < kMaxGenerations; ++generation) {
      const std::string before = prologue.layer()->name;
      nameFiles(instance, staticHash, generation);
      if (!isFree(instance))
        continue;
      prologue.rename(instance.prologue);
      epilogue.rename(instance.epilogue);
      epilogue.renameReference(before, instance.prologue);
      if (!prologue.publish())
        continue;
      if (epilogue.publish())
        return publishRecord(staticHash, instance);
      prologue.unpublish();
    }
  } catch (...) {
    prologue.retract();
    epilogue.retract();
    throw;
  }
  throw Error(ErrorCode::IoFailed, "no free file name is left for it");
}

void InstanceWriter::removeOrphans() noexcept {
  try {
    const DirectoryLock lock = store_.lock();
    if (lock.isTaken() || hasOtherSession(options_.directory))
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
        ledger_.forgetFile(name);
        std::error_code ignored;
        std::filesystem::remove(options_.directory / name, ignored);
      }
  } catch (const std::exception&) { // an unreadable record may need them: they stay
  }
}

} // namespace mneme::artifact
