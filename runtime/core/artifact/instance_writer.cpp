#include "runtime/core/artifact/instance_writer.h"

#include <map>
#include <set>
#include <system_error>
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
/// At most so many instances and files of kernels wait to be published. They keep their descriptors
/// open, and a kill loses them with the queue.
constexpr size_t kMaxWritten = 32;
constexpr uint64_t kMaxWrittenBytes = 256ull << 20;
constexpr std::chrono::seconds kMaxUnpublished{1};

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

void InstanceWriter::write(uint64_t staticHash, InstanceDraft& draft) {
  if (!store_.contains(staticHash))
    throw Error(ErrorCode::NotFound, "its kernel could not be written");
  WrittenInstance written;
  written.staticHash = staticHash;
  written.instance = draft.instance;
  written.snapshots = {draft.prologue.id, draft.epilogue.id};
  written.prologueBytes = memoryBytes(draft.prologue);
  written.cost.rawBytes = written.prologueBytes + memoryBytes(draft.epilogue);
  try {
    const auto published = store_.published(staticHash, draft.instance.dynamicHash);
    if (published && isPublished(draft, *published)) {
      written.instance.prologue = published->prologue;
      written.instance.epilogue = published->epilogue;
      written.references = {published->prologue, published->epilogue};
    } else {
      writeFiles(written, draft);
    }
    add(std::move(written));
  } catch (...) {
    ledger_.forget(draft.prologue.id);
    ledger_.forget(draft.epilogue.id);
    throw;
  }
}

void InstanceWriter::add(WrittenInstance written) {
  if (written_.empty())
    writtenSince_ = std::chrono::steady_clock::now();
  writtenBytes_ += written.cost.storedBytes;
  written.before = store_.enter(written.staticHash, written.instance);
  written_.push_back(std::move(written));
}

bool InstanceWriter::isFull() const {
  return written_.size() + store_.waitingCode() >= kMaxWritten ||
         writtenBytes_ >= kMaxWrittenBytes ||
         (!written_.empty() && std::chrono::steady_clock::now() - writtenSince_ >= kMaxUnpublished);
}

bool InstanceWriter::isFree(const Instance& instance) const {
  return access((options_.directory / instance.prologue).c_str(), F_OK) != 0 &&
         access((options_.directory / instance.epilogue).c_str(), F_OK) != 0;
}

void InstanceWriter::writeFiles(WrittenInstance& written, InstanceDraft& draft) {
  Instance& instance = written.instance;
  unsigned generation = 0;
  nameFiles(instance, written.staticHash, generation);
  while (!isFree(instance) && generation < kMaxGenerations)
    nameFiles(instance, written.staticHash, ++generation);
  PendingChunks pending;
  BuilderOptions builder{options_.compressionLevel, &threads_, false, release_};
  SnapshotBuilder prologue(options_.directory, instance.prologue, index_, pending, builder);
  prologue.write(plan(draft.prologue, {}, false), draft.prologue.args, draft.prologue.storage);
  ledger_.add(draft.prologue.id, prologue.regions());
  builder.storesEverything = options_.epilogueFormat == EpilogueFormat::Bytes;
  SnapshotBuilder epilogue(options_.directory, instance.epilogue, index_, pending, builder);
  epilogue.write(plan(draft.epilogue, prologue.regions(), builder.storesEverything),
                 draft.epilogue.args, draft.epilogue.storage);
  nameSnapshots(written, generation, prologue, epilogue);
  ledger_.add(draft.epilogue.id, epilogue.regions());
  index_.store(pending.places);
  written.cost.uniqueBytes = prologue.uniqueBytes() + epilogue.uniqueBytes();
  written.cost.storedBytes = prologue.fileBytes() + epilogue.fileBytes();
  for (SnapshotBuilder* snapshot : {&prologue, &epilogue}) {
    const auto& names = snapshot->layer()->table.references;
    written.references.insert(names.begin(), names.end());
    written.files.push_back(snapshot->takeFile());
  }
}

/// Gives the files the names chosen before, or the next free ones if another session has taken them
/// meanwhile. No record has them yet: removeOrphans() of another session leaves them alone while
/// this one lives.
void InstanceWriter::nameSnapshots(WrittenInstance& written, unsigned generation,
                                   SnapshotBuilder& prologue, SnapshotBuilder& epilogue) {
  Instance& instance = written.instance;
  try {
    for (; generation < kMaxGenerations; ++generation) {
      const std::string before = prologue.layer()->name;
      nameFiles(instance, written.staticHash, generation);
      if (!isFree(instance))
        continue;
      prologue.rename(instance.prologue);
      epilogue.rename(instance.epilogue);
      epilogue.renameReference(before, instance.prologue);
      if (!prologue.publish())
        continue;
      if (epilogue.publish())
        return;
      prologue.unpublish();
    }
  } catch (...) {
    prologue.retract();
    epilogue.retract();
    throw;
  }
  throw Error(ErrorCode::IoFailed, "no free file name is left for it");
}

/// What needs a damaged file is lost with it.
void InstanceWriter::sync(std::vector<WrittenInstance>& batch,
                          const std::map<uint64_t, std::string>& lostKernels) {
  std::vector<const UnsyncedFile*> files;
  for (const WrittenInstance& one : batch)
    for (const UnsyncedFile& file : one.files)
      files.push_back(&file);
  const std::vector<std::string> failures = syncTogether(files);
  auto failure = failures.begin();
  std::set<std::string> damaged;
  for (WrittenInstance& one : batch) {
    if (const auto lost = lostKernels.find(one.staticHash); lost != lostKernels.end())
      one.failure = lost->second;
    for (size_t file = 0; file < one.files.size(); ++file)
      if (const std::string& why = *failure++; !why.empty())
        one.failure = why;
    for (const std::string& name : one.references)
      if (one.failure.empty() && damaged.contains(name))
        one.failure = "it refers to content of a lost recording";
    if (!one.failure.empty())
      damaged.insert({one.instance.prologue, one.instance.epilogue});
  }
}

void InstanceWriter::takeBack(const WrittenInstance& lost, std::vector<WrittenInstance>& batch) {
  store_.leave(lost.staticHash, lost.instance, lost.before);
  // An instance that replaced the lost one must not restore it when it is taken back itself.
  for (WrittenInstance& one : batch)
    if (one.staticHash == lost.staticHash && one.before &&
        one.before->prologue == lost.instance.prologue)
      one.before = lost.before;
}

/// Writes the records of all that is not lost.
void InstanceWriter::enter(std::vector<WrittenInstance>& batch) {
  // The latest first: each brings back what it replaced.
  for (auto one = batch.rbegin(); one != batch.rend(); ++one)
    if (!one->failure.empty())
      takeBack(*one, batch);
  const DirectoryLock lock = store_.lock();
  const std::map<uint64_t, std::string> failures = store_.publish();
  for (auto one = batch.rbegin(); one != batch.rend(); ++one)
    if (const auto found = failures.find(one->staticHash);
        found != failures.end() && one->failure.empty()) {
      one->failure = found->second;
      takeBack(*one, batch);
    }
  syncDirectory(options_.directory);
}

PublishedBatch InstanceWriter::publish() {
  PublishedBatch batch{std::exchange(written_, {}), store_.publishCode()};
  writtenBytes_ = 0;
  if (batch.instances.empty())
    return batch;
  try {
    sync(batch.instances, batch.lostKernels);
    enter(batch.instances);
    removeLost(batch.instances);
  } catch (const std::exception& error) { // no memory: nothing of it counts as recorded
    for (auto one = batch.instances.rbegin(); one != batch.instances.rend(); ++one)
      if (one->failure.empty()) {
        one->failure = error.what();
        store_.leave(one->staticHash, one->instance, one->before);
      }
  }
  for (const WrittenInstance& one : batch.instances)
    settle(one);
  return batch;
}

void InstanceWriter::settle(const WrittenInstance& written) {
  for (const uint64_t snapshot : written.snapshots)
    if (written.failure.empty())
      ledger_.settle(snapshot);
    else
      ledger_.forget(snapshot);
}

/// A file that a published instance needs stays, without a record of its own.
void InstanceWriter::removeLost(std::vector<WrittenInstance>& batch) {
  std::set<std::string> needed;
  for (auto one = batch.rbegin(); one != batch.rend(); ++one) {
    const std::array names = {one->instance.prologue, one->instance.epilogue};
    const bool isNeeded =
        one->failure.empty() || needed.contains(names[0]) || needed.contains(names[1]);
    if (isNeeded) {
      needed.insert(one->references.begin(), one->references.end());
      continue;
    }
    if (one->files.empty()) // published by an earlier session
      continue;
    for (const std::string& name : names) {
      index_.forgetFile(name);
      std::error_code ignored;
      std::filesystem::remove(options_.directory / name, ignored);
    }
  }
}

void InstanceWriter::removeOrphans(const std::filesystem::path& ownSession) noexcept {
  try {
    const DirectoryLock lock = store_.lock();
    if (lock.isTaken())
      return;
    std::vector<std::string> candidates;
    for (const uint64_t staticHash : store_.kernels())
      // What belongs to a record that was put aside stays with it.
      if (!std::filesystem::exists(options_.directory / damagedName(staticHash)))
        for (std::string& name : snapshotsByName(options_.directory, staticHash))
          candidates.push_back(std::move(name));
    // Asked when they are listed: a session that begins later has named none of them.
    if (hasOtherSession(options_.directory, ownSession))
      return;
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
