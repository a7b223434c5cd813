// Room jit/mpi: what the ranks of a job ask of rank 0. All messages are a thread's of our own, on a
// communicator of our own, so that neither the program's messages nor its descriptors are touched.
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
  /// Starts the thread, if `hasMessages` and there are other ranks, and waits for them a little.
  /// MPI has to be initialised for many threads.
  Exchange(std::filesystem::path directory, bool hasMessages, std::chrono::milliseconds poll);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// Reads an entry of this rank's own directory; empty if there is none.
  std::vector<std::byte> readHere(const std::string& name) const noexcept;
  void writeHere(const std::string& name, std::span<const std::byte> entry) const noexcept;

  /// Reads an entry of rank 0's directory. False: rank 0 cannot be asked, because this is it or its
  /// directory is this rank's too, other ranks have not started yet, or MPI is at its end.
  bool lookUp(const std::string& name, std::vector<std::byte>& entry) noexcept;
  /// Rank 0 has written it. False as above.
  bool store(const std::string& name, std::span<const std::byte> entry) noexcept;

  /// Serves the others until all ranks have come here, which is in MPI_Finalize(). A rank that has
  /// compiled nothing never comes, which is said after a while.
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
  bool hasOthers_ = false; ///< to exchange messages with
  MPI_Comm job_ = MPI_COMM_NULL;
  std::thread thread_;

  std::mutex mutex_; ///< of what follows
  std::condition_variable changed_;
  State state_ = State::Starting;
  bool isClosed_ = false; ///< no more requests
  bool isOver_ = false;   ///< the thread ends
  std::vector<Request*> requests_;
};

} // namespace mneme::jit
