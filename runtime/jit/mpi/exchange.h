// Room jit/mpi: requests of a job's ranks to rank 0. A thread of our own exchanges all messages, on
// a communicator of our own, so that neither the program's messages nor its descriptors are
// touched.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>

namespace mneme::jit {

/// The entries of a directory, which rank 0 reads and writes for others.
class Exchange {
public:
  /// Starts the thread if `hasMessages` and there are other ranks, and waits briefly for them. MPI
  /// must be initialised for multiple threads.
  Exchange(std::filesystem::path directory, bool hasMessages, std::chrono::milliseconds poll);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// Reads an entry of this rank's own directory; empty if there is none.
  std::vector<std::byte> readHere(const std::string& name) const noexcept;
  void writeHere(const std::string& name, std::span<const std::byte> entry) const noexcept;

  /// Reads an entry of rank 0's directory. Returns false if rank 0 is not asked: this is rank 0,
  /// both share a directory, other ranks have not started yet, or MPI is ending.
  bool lookUp(const std::string& name, std::vector<std::byte>& entry) noexcept;
  /// Has rank 0 write an entry. Returns false in the cases of lookUp().
  bool store(const std::string& name, std::span<const std::byte> entry) noexcept;

  /// Serves other ranks until all have called this, in MPI_Finalize(). A rank that has compiled
  /// nothing never calls it; this is reported after a while.
  void end() noexcept;

private:
  enum class State { Starting, Ready, NotNeeded };
  enum class Kind : uint64_t { LookUp, Store };
  struct Request {
    const std::vector<std::byte>& message;
    std::vector<std::byte> reply;
    bool isDone = false;
    bool isAnswered = false;
  };

  bool ask(Kind kind, const std::string& name, std::span<const std::byte> entry,
           std::vector<std::byte>& reply) noexcept;
  void run() noexcept;
  bool makeCommunicator() noexcept;
  bool isDirectoryShared();
  void serve();
  bool serveOne();
  void answer(const MPI_Status& status);
  void askForThreads();
  bool exchangeMessages(Request& request);
  void waitForAll() noexcept;
  void become(State state);

  const std::filesystem::path directory_;
  const std::chrono::milliseconds poll_;
  int rank_ = 0;
  int size_ = 1;
  bool hasOthers_ = false; ///< whether there are ranks to exchange messages with
  MPI_Comm job_ = MPI_COMM_NULL;
  std::thread thread_;

  std::mutex mutex_; ///< guards the members below
  std::condition_variable changed_;
  State state_ = State::Starting;
  bool isClosed_ = false; ///< no more requests are taken
  bool isOver_ = false;   ///< the thread must end
  std::vector<Request*> requests_;
};

} // namespace mneme::jit
