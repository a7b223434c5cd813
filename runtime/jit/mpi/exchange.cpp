#include "runtime/jit/mpi/exchange.h"

#include <climits>
#include <cstdio>
#include <exception>
#include <random>
#include <unistd.h>

#include "runtime/core/base/blocked_signals.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/base/packing.h"

namespace mneme::jit {
namespace {

constexpr int kGroupTag = 0x6d6e; // among other calls of MPI_Comm_create_group
constexpr int kRequestTag = 1;
constexpr int kReplyTag = 2;
// Ranks that compile the same code start within moments of each other.
constexpr std::chrono::seconds kStart{5};
constexpr std::chrono::seconds kPatience{30};
constexpr std::chrono::microseconds kBetweenLooks{200};
constexpr size_t kTokenBytes = 64;

/// A name of an entry of jobs: other ranks may be of another release.
bool isNameOfFile(const std::string& name) {
  return name.starts_with("cache-jit-") && name.find('/') == std::string::npos;
}

} // namespace

Exchange::Exchange(std::filesystem::path directory, bool hasMessages,
                   std::chrono::milliseconds poll)
    : directory_(std::move(directory)), poll_(poll) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  hasOthers_ = size_ > 1 && hasMessages;
  if (!hasOthers_)
    return;
  {
    const BlockedSignals blocked;
    thread_ = std::thread([this] { run(); });
  }
  // MPI_Finalize() should not find the thread where it waits for other ranks.
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kStart, [&] { return state_ != State::Starting; });
}

std::vector<std::byte> Exchange::readHere(const std::string& name) const noexcept {
  try {
    return directory_.empty() ? std::vector<std::byte>() : readFile(directory_ / name, INT_MAX);
  } catch (const std::exception&) { // there is none
    return {};
  }
}

void Exchange::writeHere(const std::string& name, std::span<const std::byte> entry) const noexcept {
  try {
    if (!directory_.empty())
      writeFileAtomically(directory_ / name, entry, Durability::UntilPowerFails);
  } catch (const std::exception& error) { // it is compiled again
    log(LogLevel::Info, error.what());
  }
}

bool Exchange::lookUp(const std::string& name, std::vector<std::byte>& entry) noexcept {
  return ask(Kind::LookUp, name, {}, entry);
}

bool Exchange::store(const std::string& name, std::span<const std::byte> entry) noexcept {
  std::vector<std::byte> reply;
  return ask(Kind::Store, name, entry, reply);
}

bool Exchange::ask(Kind kind, const std::string& name, std::span<const std::byte> entry,
                   std::vector<std::byte>& reply) noexcept {
  if (rank_ == 0 || !hasOthers_)
    return false;
  try {
    Packer packer;
    packer.add(static_cast<uint64_t>(kind));
    packer.add(bytesOf(name));
    packer.add(entry);
    if (packer.packed().size() > INT_MAX)
      return false;
    Request request{packer.packed(), {}};
    std::unique_lock lock(mutex_);
    if (state_ != State::Ready || isClosed_)
      return false;
    requests_.push_back(&request);
    changed_.notify_all();
    changed_.wait(lock, [&] { return request.isDone; });
    reply = std::move(request.reply);
    return request.isAnswered;
  } catch (const std::exception&) { // no memory
    return false;
  }
}

void Exchange::become(State state) {
  const std::lock_guard lock(mutex_);
  state_ = state;
  changed_.notify_all();
}

void Exchange::run() noexcept {
  if (!makeCommunicator())
    return become(State::NotNeeded);
  if (isDirectoryShared()) {
    MPI_Comm_free(&job_);
    return become(State::NotNeeded);
  }
  become(State::Ready);
  if (rank_ == 0)
    serve();
  else
    askForThreads();
}

/// Collective among threads like this one: it interferes with nothing that the program does on
/// MPI_COMM_WORLD meanwhile, in whatever order.
bool Exchange::makeCommunicator() noexcept {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const bool isMade = MPI_Comm_create_group(MPI_COMM_WORLD, world, kGroupTag, &job_) == MPI_SUCCESS;
  MPI_Group_free(&world);
  if (isMade)
    MPI_Comm_set_errhandler(job_, MPI_ERRORS_RETURN);
  return isMade;
}

/// Returns whether every rank sees a file that rank 0 creates; then no messages are needed.
/// Messages are the last resort, because MPI_Finalize() of some MPIs does not tolerate other
/// threads that probe for messages.
bool Exchange::isDirectoryShared() {
  char name[kTokenBytes] = {};
  if (rank_ == 0 && !directory_.empty()) {
    std::random_device random;
    const Hash128 token{(uint64_t{random()} << 32) | random(),
                        (uint64_t{random()} << 32) | random()};
    snprintf(name, sizeof name, "%s.lock", toHex(token).c_str()); // as the cache knows for its own
    runApart([&] { writeHere(name, {}); });
  }
  MPI_Bcast(name, sizeof name, MPI_BYTE, 0, job_);
  const auto isSeen = [&] { return access((directory_ / name).c_str(), F_OK) == 0; };
  int sees = *name && !directory_.empty() && isSeen();
  MPI_Allreduce(MPI_IN_PLACE, &sees, 1, MPI_INT, MPI_MIN, job_);
  if (rank_ == 0 && *name)
    unlink((directory_ / name).c_str());
  return sees != 0;
}

void Exchange::serve() {
  std::unique_lock lock(mutex_);
  while (!isOver_) {
    lock.unlock();
    const bool hasServed = serveOne();
    lock.lock();
    if (!hasServed)
      changed_.wait_for(lock, poll_, [&] { return isOver_; });
  }
}

bool Exchange::serveOne() {
  int isThere = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, kRequestTag, job_, &isThere, &status) != MPI_SUCCESS || !isThere)
    return false;
  answer(status);
  return true;
}

void Exchange::answer(const MPI_Status& status) {
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  std::vector<std::byte> message(static_cast<size_t>(count));
  if (MPI_Recv(message.data(), count, MPI_BYTE, status.MPI_SOURCE, kRequestTag, job_,
               MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return;
  std::string name;
  std::vector<std::byte> entry, reply;
  Unpacker unpacker(message);
  const auto kind = static_cast<Kind>(unpacker.takeNumber());
  unpacker.take(name);
  unpacker.take(entry);
  if (unpacker.isGood() && isNameOfFile(name)) {
    if (kind == Kind::LookUp)
      reply = apart([&] { return readHere(name); });
    else
      runApart([&] { writeHere(name, entry); });
  }
  MPI_Send(reply.data(), static_cast<int>(reply.size()), MPI_BYTE, status.MPI_SOURCE, kReplyTag,
           job_);
}

void Exchange::askForThreads() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return isOver_ || !requests_.empty(); });
    if (requests_.empty())
      return;
    Request& request = *requests_.front();
    lock.unlock();
    const bool isAnswered = exchangeMessages(request);
    lock.lock();
    requests_.erase(requests_.begin());
    request.isAnswered = isAnswered;
    request.isDone = true;
    changed_.notify_all();
  }
}

bool Exchange::exchangeMessages(Request& request) {
  if (MPI_Send(request.message.data(), static_cast<int>(request.message.size()), MPI_BYTE, 0,
               kRequestTag, job_) != MPI_SUCCESS)
    return false;
  MPI_Status status;
  for (int isThere = 0; !isThere; std::this_thread::sleep_for(kBetweenLooks))
    if (MPI_Iprobe(0, kReplyTag, job_, &isThere, &status) != MPI_SUCCESS)
      return false;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  request.reply.resize(static_cast<size_t>(count));
  return MPI_Recv(request.reply.data(), count, MPI_BYTE, 0, kReplyTag, job_, MPI_STATUS_IGNORE) ==
         MPI_SUCCESS;
}

void Exchange::end() noexcept {
  if (!hasOthers_)
    return;
  {
    std::unique_lock lock(mutex_);
    isClosed_ = true;
    changed_.notify_all();
    const auto isReady = [&] { return state_ != State::Starting; };
    if (!changed_.wait_for(lock, kPatience, isReady))
      notice("MPI_Finalize() waits for ranks that have compiled nothing: with mpi-remote-lookup "
             "every rank has to");
    changed_.wait(lock, [&] { return isReady() && requests_.empty(); });
    isOver_ = true;
    changed_.notify_all();
  }
  thread_.join();
  if (job_ == MPI_COMM_NULL)
    return;
  waitForAll();
  MPI_Comm_free(&job_);
}

/// The caller serves now: within MPI_Finalize() no other thread should use MPI.
void Exchange::waitForAll() noexcept {
  MPI_Request barrier = MPI_REQUEST_NULL;
  MPI_Ibarrier(job_, &barrier);
  for (int isDone = 0; !isDone; std::this_thread::sleep_for(kBetweenLooks)) {
    if (rank_ == 0)
      while (serveOne()) {
      }
    if (MPI_Test(&barrier, &isDone, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return;
  }
}

} // namespace mneme::jit
