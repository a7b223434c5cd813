#include "runtime/jit/mpi/exchange.h"

#include <climits>
#include <exception>

#include "runtime/base/blocked_signals.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/log.h"
#include "runtime/base/own_descriptors.h"
#include "runtime/base/packing.h"

namespace mneme::jit {
namespace {

constexpr int kGroupTag = 0x6d6e; // among other calls of MPI_Comm_create_group
constexpr int kRequestTag = 1;
constexpr int kReplyTag = 2;
// Ranks that compile the same code start within moments of each other.
constexpr std::chrono::seconds kStart{5};
constexpr std::chrono::seconds kPatience{30};
constexpr std::chrono::microseconds kBetweenLooks{200};

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
  if (size_ == 1 || !hasMessages)
    return;
  const BlockedSignals blocked;
  thread_ = std::thread([this] { run(); });
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
  if (rank_ == 0 || !thread_.joinable())
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
    changed_.wait_until(lock, start_ + kStart,
                        [&] { return state_ != State::Starting || isClosed_; });
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
    return become(State::Failed);
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

void Exchange::serve() {
  std::unique_lock lock(mutex_);
  while (!isOver_) {
    lock.unlock();
    int isThere = 0;
    MPI_Status status;
    const bool isGood =
        MPI_Iprobe(MPI_ANY_SOURCE, kRequestTag, job_, &isThere, &status) == MPI_SUCCESS;
    if (isGood && isThere)
      answer(status);
    lock.lock();
    if (!isGood || !isThere)
      changed_.wait_for(lock, poll_, [&] { return isOver_; });
  }
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
  if (!thread_.joinable())
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
  }
  waitForAll();
  {
    const std::lock_guard lock(mutex_);
    isOver_ = true;
    changed_.notify_all();
  }
  thread_.join();
  if (job_ != MPI_COMM_NULL)
    MPI_Comm_free(&job_);
}

void Exchange::waitForAll() noexcept {
  if (job_ == MPI_COMM_NULL)
    return;
  MPI_Request barrier = MPI_REQUEST_NULL;
  MPI_Ibarrier(job_, &barrier);
  for (int isDone = 0; !isDone; std::this_thread::sleep_for(kBetweenLooks))
    if (MPI_Test(&barrier, &isDone, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return;
}

} // namespace mneme::jit
