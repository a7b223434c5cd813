#include "runtime/core/artifact/writer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <variant>

#include "runtime/core/artifact/chunk_index.h"
#include "runtime/core/artifact/directory_files.h"
#include "runtime/core/artifact/instance_writer.h"
#include "runtime/core/artifact/machine_share.h"
#include "runtime/core/artifact/names.h"
#include "runtime/core/artifact/record_store.h"
#include "runtime/core/artifact/session_file.h"
#include "runtime/core/artifact/snapshot_file.h"
#include "runtime/core/base/blocked_signals.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/base/sentence.h"

namespace mneme::artifact {
namespace {

constexpr size_t kMaxLosses = 100;
/// Directories with more snapshots than this are not searched for content to refer to.
constexpr size_t kMaxLearnedFiles = 4096;

struct KernelTask {
  KernelRecord record;
  std::vector<std::vector<std::byte>> modules;
};
struct InstanceTask {
  uint64_t staticHash = 0;
  InstanceDraft draft;
  uint64_t contentBytes = 0;
  std::vector<Hash128> content; ///< hashes of the chunks that bring bytes
};
struct CountTask {
  uint64_t staticHash = 0;
  uint64_t dynamicHash = 0;
  uint64_t occurrences = 0;
};
struct LaunchesTask {
  uint64_t staticHash = 0;
  uint64_t launches = 0;
};
using Task = std::variant<KernelTask, InstanceTask, CountTask, LaunchesTask>;

InstanceTask makeTask(uint64_t staticHash, InstanceDraft draft) {
  InstanceTask task{staticHash, std::move(draft), 0, {}};
  uint64_t chunkBytes = 0, slabBytes = 0;
  for (const SnapshotDraft* snapshot : {&task.draft.prologue, &task.draft.epilogue}) {
    for (const DraftSlab& slab : snapshot->storage)
      slabBytes += slab.bytes.size();
    for (const RegionDraft& region : snapshot->regions)
      for (const ChunkDraft& chunk : region.chunks)
        if (!chunk.bytes.empty()) {
          task.content.push_back(chunk.hash);
          chunkBytes += chunk.bytes.size();
        }
  }
  task.contentBytes = std::max(chunkBytes, slabBytes);
  return task;
}

std::string lost(uint64_t staticHash, uint64_t dynamicHash, uint64_t memory,
                 const char* why) noexcept {
  std::array<char, 24> instance{}, kernel{}, bytes{};
  std::to_chars(bytes.begin(), bytes.end(), memory);
  std::to_chars(instance.begin(), instance.end(), dynamicHash);
  std::to_chars(kernel.begin(), kernel.end(), staticHash);
  return sentence("instance ", instance.data(), " of kernel ", kernel.data(), ", ", bytes.data(),
                  " bytes of memory, was lost: ", why);
}

} // namespace

uint64_t memoryBytes(const SnapshotDraft& snapshot) noexcept {
  uint64_t bytes = 0;
  for (const RegionDraft& region : snapshot.regions)
    bytes += region.region.sizeBytes;
  return bytes;
}

struct RecordingWriter::Impl {
  explicit Impl(WriterOptions given)
      : options(std::move(given)), store(options.directory),
        instances(options, threads, [this](DraftSlab& slab) { release(slab); }, index, store) {
    threads = options.compressionThreads != 0 ? options.compressionThreads
                                              : std::max(1u, availableCores() / 4);
  }

  WriterOptions options;
  std::atomic<unsigned> threads{1};
  ChunkIndex index;
  RecordStore store;
  InstanceWriter instances;
  std::optional<SessionFile> session;

  mutable std::mutex mutex;
  std::condition_variable hasWork, hasRoom;
  std::deque<Task> tasks;
  uint64_t waitingBytes = 0; ///< content queued or being written
  uint64_t currentBytes = 0; ///< the part of it that belongs to the instance being written
  bool isWorking = false;    ///< at a task that is not in the queue any more
  bool isEnding = false;
  bool isEnded = false;
  WriterStatistics statistics;
  std::set<uint64_t> lostSnapshots;
  bool areAllLost = false;
  std::map<uint64_t, KernelTask> unsavedKernels; ///< tried again with every instance
  std::map<uint64_t, KernelTask> writtenKernels; ///< not published yet
  std::thread worker;
  std::atomic<uint64_t> progress{0};

  void open();
  void learnExisting();
  void enqueue(Task task);
  void waitForRoom(std::unique_lock<std::mutex>& lock, uint64_t bytes);
  void startWorker();
  void work();
  void perform(Task& task);
  void addKernel(KernelTask& task);
  void writeInstance(InstanceTask& task);
  void publishWritten() noexcept;
  void keepLost(const std::map<uint64_t, std::string>& kernels);
  void account(const WrittenInstance& one);
  bool isIdle() const;
  void release(DraftSlab& slab);
  void lose(const std::string& sentence, bool isInstance) noexcept;
  void loseSnapshots(const std::array<uint64_t, 2>& ids) noexcept;
  void conclude() noexcept;
};

void RecordingWriter::Impl::open() {
  if (options.queueBytes == 0)
    options.queueBytes = automaticQueueBytes();
  std::error_code error;
  std::filesystem::create_directories(options.directory, error);
  if (!std::filesystem::is_directory(options.directory))
    throw Error(ErrorCode::IoFailed, "cannot create the recording directory '" +
                                         options.directory.string() + "'" +
                                         (error ? ": " + error.message() : ""));
  session.emplace(options.directory);
  learnExisting();
}

/// Content of valid snapshots of earlier sessions is referred to, not stored again.
void RecordingWriter::Impl::learnExisting() {
  std::set<std::string> files;
  try {
    files = filesOfAllRecords(options.directory);
  } catch (const std::exception&) { // a damaged record: nothing is shared with this directory
    return;
  }
  size_t learned = 0;
  for (const std::string& name : files) {
    if (!name.ends_with(".mneme") || ++learned > kMaxLearnedFiles)
      continue;
    try {
      const std::filesystem::path path = options.directory / name;
      index.learn(name, readTable(openSnapshotFile(path), path));
    } catch (const Error&) { // it went away since: not referred to
    }
  }
}

void RecordingWriter::Impl::lose(const std::string& sentence, bool isInstance) noexcept {
  try {
    {
      const std::lock_guard lock(mutex);
      statistics.instancesLost += isInstance ? 1 : 0;
      if (statistics.losses.size() < kMaxLosses)
        statistics.losses.push_back(sentence);
      else if (statistics.losses.size() == kMaxLosses)
        statistics.losses.push_back("more was lost; only the first reasons are listed");
    }
    if (session)
      runApart([&] { session->addLoss(sentence); });
  } catch (const std::exception&) { // no memory for the sentence; the count is what is left
  }
}

void RecordingWriter::Impl::startWorker() {
  if (worker.joinable())
    return;
  const BlockedSignals blocked;
  worker = std::thread([this] { work(); });
}

void RecordingWriter::Impl::enqueue(Task task) {
  std::unique_lock lock(mutex);
  auto* instance = std::get_if<InstanceTask>(&task);
  if (instance)
    waitForRoom(lock, instance->contentBytes);
  if (isEnding)
    throw Error(ErrorCode::InvalidArgument, "the recording session has ended");
  if (instance) {
    // Announced in the order of the queue: who omits content comes behind who brings it.
    index.announce(instance->content);
    waitingBytes += instance->contentBytes;
  }
  startWorker();
  tasks.push_back(std::move(task));
  hasWork.notify_one();
}

void RecordingWriter::Impl::waitForRoom(std::unique_lock<std::mutex>& lock, uint64_t bytes) {
  const auto begin = std::chrono::steady_clock::now();
  hasRoom.wait(lock, [&] {
    return waitingBytes == 0 || isEnding || waitingBytes + bytes <= options.queueBytes;
  });
  const auto waited = std::chrono::steady_clock::now() - begin;
  statistics.waitNs +=
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(waited).count());
}

/// Content of the instance being written that is on its way to the disk.
void RecordingWriter::Impl::release(DraftSlab& slab) {
  const uint64_t bytes = slab.bytes.size();
  slab = {};
  ++progress;
  {
    const std::lock_guard lock(mutex);
    const uint64_t released = std::min(bytes, currentBytes);
    currentBytes -= released;
    waitingBytes -= released;
  }
  hasRoom.notify_all();
}

void RecordingWriter::Impl::work() {
  lowerPriority();
  takeOwnDescriptors(); // what it opens is not the application's to close
  std::unique_lock lock(mutex);
  for (;;) {
    hasWork.wait(lock, [this] { return !tasks.empty() || isEnding; });
    if (tasks.empty())
      break;
    Task task = std::move(tasks.front());
    tasks.pop_front();
    if (const auto* instance = std::get_if<InstanceTask>(&task))
      currentBytes = instance->contentBytes;
    isWorking = true;
    lock.unlock();
    perform(task);
    if (instances.isFull() || (instances.hasWritten() && isIdle()))
      publishWritten();
    ++progress;
    lock.lock();
    isWorking = false;
    waitingBytes -= std::exchange(currentBytes, 0);
    hasRoom.notify_all();
  }
  lock.unlock();
  conclude();
}

/// What is left to be done when everything is written.
void RecordingWriter::Impl::conclude() noexcept {
  publishWritten();
  try {
    store.publishCounts();
  } catch (const std::exception& error) {
    lose(sentence("the number of occurrences was not updated: ", error.what()), false);
  }
  instances.removeOrphans(session->path());
  session->finish();
}

void RecordingWriter::Impl::perform(Task& task) {
  if (auto* instance = std::get_if<InstanceTask>(&task))
    return writeInstance(*instance);
  try {
    if (auto* kernel = std::get_if<KernelTask>(&task)) {
      unsavedKernels[kernel->record.staticHash] = *kernel;
      addKernel(*kernel);
    } else if (const auto* count = std::get_if<CountTask>(&task)) {
      store.setOccurrences(count->staticHash, count->dynamicHash, count->occurrences);
    } else if (const auto* all = std::get_if<LaunchesTask>(&task)) {
      store.setLaunches(all->staticHash, all->launches);
    }
  } catch (const std::exception& error) {
    lose(sentence("a kernel could not be written yet: ", error.what()), false);
  }
}

void RecordingWriter::Impl::addKernel(KernelTask& task) {
  const uint64_t staticHash = task.record.staticHash;
  const uint64_t bytes = store.add(task.record, task.modules);
  writtenKernels[staticHash] = std::move(task);
  unsavedKernels.erase(staticHash);
  const std::lock_guard lock(mutex);
  statistics.storedBytes += bytes;
}

/// Without memory for their numbers nothing may refer to any snapshot of this session.
void RecordingWriter::Impl::loseSnapshots(const std::array<uint64_t, 2>& ids) noexcept {
  const std::lock_guard lock(mutex);
  try {
    for (const uint64_t id : ids)
      if (id != 0)
        lostSnapshots.insert(id);
  } catch (const std::exception&) {
    areAllLost = true;
  }
}

void RecordingWriter::Impl::writeInstance(InstanceTask& task) {
  try {
    if (const auto unsaved = unsavedKernels.find(task.staticHash);
        unsaved != unsavedKernels.end()) {
      KernelTask again = unsaved->second;
      addKernel(again);
    }
    instances.write(task.staticHash, task.draft);
  } catch (const std::exception& error) {
    // Withdraw the content before reporting the loss, so that a capture that begins after the
    // report neither builds on the snapshots nor omits their content.
    index.withdraw(task.content);
    loseSnapshots({task.draft.prologue.id, task.draft.epilogue.id});
    lose(lost(task.staticHash, task.draft.instance.dynamicHash, memoryBytes(task.draft.prologue),
              error.what()),
         true);
    session->pending().ends(task.staticHash, task.draft.instance.dynamicHash);
  }
  // Content that was not stored after all (a failure, or an instance that was published before).
  index.withdraw(task.content);
  task.draft = {}; // frees the content before room is announced
}

bool RecordingWriter::Impl::isIdle() const {
  const std::lock_guard lock(mutex);
  return tasks.empty();
}

void RecordingWriter::Impl::publishWritten() noexcept {
  try {
    const PublishedBatch batch = instances.publish();
    keepLost(batch.lostKernels);
    for (const WrittenInstance& one : batch.instances)
      account(one);
  } catch (const std::exception& error) { // no memory to say which
    lose(sentence("instances were lost: ", error.what()), false);
    const std::lock_guard lock(mutex);
    areAllLost = true;
  }
}

/// They are written again with their next instance.
void RecordingWriter::Impl::keepLost(const std::map<uint64_t, std::string>& kernels) {
  for (auto& [hash, task] : std::exchange(writtenKernels, {}))
    if (kernels.contains(hash))
      unsavedKernels[hash] = std::move(task);
}

/// Counts what is published, or says that it is lost.
void RecordingWriter::Impl::account(const WrittenInstance& one) {
  if (!one.failure.empty()) {
    loseSnapshots(one.snapshots);
    lose(lost(one.staticHash, one.instance.dynamicHash, one.prologueBytes, one.failure.c_str()),
         true);
  } else {
    const std::lock_guard lock(mutex);
    ++statistics.instancesWritten;
    statistics.rawBytes += one.cost.rawBytes;
    statistics.uniqueBytes += one.cost.uniqueBytes;
    statistics.storedBytes += one.cost.storedBytes;
  }
  session->pending().ends(one.staticHash, one.instance.dynamicHash);
}

RecordingWriter::RecordingWriter(WriterOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {
  runApart([this] { impl_->open(); });
}

RecordingWriter::~RecordingWriter() { finish(); }

void RecordingWriter::addKernel(const KernelRecord& record,
                                const std::vector<std::vector<std::byte>>& modules) {
  try {
    impl_->enqueue(KernelTask{record, modules});
  } catch (const std::exception& error) {
    impl_->lose(sentence("kernel '", record.demangledName, "' was lost: ", error.what()), false);
  }
}

bool RecordingWriter::hasChunk(const Hash128& hash) const { return impl_->index.contains(hash); }

std::vector<bool> RecordingWriter::hasChunks(std::span<const Hash128> hashes) const {
  return impl_->index.contains(hashes);
}

bool RecordingWriter::isLost(uint64_t snapshot) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->areAllLost || impl_->lostSnapshots.contains(snapshot);
}

void RecordingWriter::waitForRoom(uint64_t bytes) {
  std::unique_lock lock(impl_->mutex);
  impl_->waitForRoom(lock, bytes);
}

void RecordingWriter::enterTaken(uint64_t staticHash, const std::string& kernel,
                                 const InstanceDraft& draft) {
  impl_->session->pending().begins(
      {staticHash, draft.instance.dynamicHash, memoryBytes(draft.prologue), kernel});
}

void RecordingWriter::submit(uint64_t staticHash, InstanceDraft draft) {
  const uint64_t dynamicHash = draft.instance.dynamicHash;
  const uint64_t memory = memoryBytes(draft.prologue);
  const std::array ids = {draft.prologue.id, draft.epilogue.id};
  try {
    impl_->enqueue(makeTask(staticHash, std::move(draft)));
  } catch (const std::exception& error) {
    impl_->loseSnapshots(ids);
    impl_->lose(lost(staticHash, dynamicHash, memory, error.what()), true);
    impl_->session->pending().ends(staticHash, dynamicHash);
  }
}

void RecordingWriter::setOccurrences(uint64_t staticHash, uint64_t dynamicHash,
                                     uint64_t occurrences) {
  try {
    impl_->enqueue(CountTask{staticHash, dynamicHash, occurrences});
  } catch (const std::exception&) { // after the end counts no longer change
  }
}

void RecordingWriter::setLaunches(uint64_t staticHash, uint64_t launches) {
  try {
    impl_->enqueue(LaunchesTask{staticHash, launches});
  } catch (const std::exception&) { // as above
  }
}

void RecordingWriter::noteLoss(const std::string& sentence) { impl_->lose(sentence, false); }

void RecordingWriter::waitUntilWritten() noexcept {
  try {
    std::unique_lock lock(impl_->mutex);
    impl_->hasRoom.wait(lock, [this] { return impl_->tasks.empty() && !impl_->isWorking; });
  } catch (const std::exception&) { // locks of libc failed
  }
}

void RecordingWriter::finish() noexcept {
  try {
    {
      const std::lock_guard lock(impl_->mutex);
      impl_->isEnding = true;
      if (std::exchange(impl_->isEnded, true))
        return;
    }
    if (impl_->options.compressionThreads == 0)
      impl_->threads = availableCores(); // who waits for the end does not need them
    impl_->hasWork.notify_all();
    impl_->hasRoom.notify_all();
    if (impl_->worker.joinable())
      impl_->worker.join();
    else
      runApart([this] { impl_->conclude(); });
    ++impl_->progress;
  } catch (const std::exception&) { // locks of libc failed: nothing is left to be done
  }
}

void RecordingWriter::reopen() {
  runApart([this] { impl_->session->reopen(); });
  const std::lock_guard lock(impl_->mutex);
  impl_->isEnding = false;
  impl_->isEnded = false;
}

uint64_t RecordingWriter::progress() const noexcept { return impl_->progress; }

WriterStatistics RecordingWriter::statistics() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->statistics;
}

} // namespace mneme::artifact
