// Room jit/mpi: the exported function. Calls the program's own MPI, whose names are in the program.
#include <exception>
#include <mutex>

#include <mpi.h>

#include "runtime/core/abi/mneme_jit_mpi.h"
#include "runtime/jit/mpi/exchange.h"

namespace mneme::jit {
namespace {

// Never destroyed: code may be looked for while the process ends.
Exchange* theExchange = nullptr;

const char* whyNotReady() {
  int isInitialized = 0, isFinalized = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&isInitialized);
  MPI_Finalized(&isFinalized);
  if (isInitialized && !isFinalized)
    MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE
             ? nullptr
             : "needs MPI_Init_thread() with MPI_THREAD_MULTIPLE before anything is compiled";
}

/// MPI_Finalize() deletes the attributes of MPI_COMM_SELF before anything else.
void endWithMpi() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(
      MPI_COMM_NULL_COPY_FN,
      [](MPI_Comm, int, void*, void*) {
        theExchange->end();
        return MPI_SUCCESS;
      },
      &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  MPI_Comm_free_keyval(&key);
}

void readEntry(const char* name, uint32_t asksRank0, void (*take)(void*, const void*, size_t),
               void* user) {
  std::vector<std::byte> entry;
  if (!asksRank0 || !theExchange->lookUp(name, entry))
    entry = theExchange->readHere(name);
  if (!entry.empty())
    take(user, entry.data(), entry.size());
}

void publishEntry(const char* name, const void* bytes, size_t count) {
  const std::span entry(static_cast<const std::byte*>(bytes), count);
  if (!theExchange->store(name, entry))
    theExchange->writeHere(name, entry);
}

} // namespace
} // namespace mneme::jit

const mneme_jit_mpi* mneme_jit_mpi_start(const mneme_jit_mpi_options* options, const char** why) {
  using namespace mneme::jit;
  static mneme_jit_mpi functions{0, 1, readEntry, publishEntry};
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (theExchange)
    return &functions;
  if (options->abi != MNEME_JIT_MPI_ABI) {
    *why = "is of another release of mneme";
    return nullptr;
  }
  if ((*why = whyNotReady()))
    return nullptr;
  try {
    theExchange = new Exchange(options->directory, options->asksRank0 != 0,
                               std::chrono::milliseconds(options->pollMilliseconds));
    endWithMpi();
  } catch (const std::exception&) { // neither memory nor a thread
    *why = "cannot start its thread";
    return nullptr;
  }
  functions.rank = theExchange->rank();
  functions.size = theExchange->size();
  return &functions;
}
