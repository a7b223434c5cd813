// Which fat binaries the vendor's runtime has registered, and what it calls them. Memory comes from
// malloc; when there is none, a fat binary stays unknown and its hidden variables are not found.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/core/abi/mneme_rt.h"

namespace {

struct Wrapper {
  uint32_t magic;
  uint32_t version;
  const void* data;
};

struct Code {
  const void* fatbin;
  void* handle;
  uint64_t number;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// All below is guarded by `lock`.
Code* codes = nullptr;
size_t codeCount = 0;
size_t codeCapacity = 0;
uint64_t registrations = 0;
pid_t owner = 0; ///< a child has the lock as another thread of its parent may have left it

bool isOwner() {
  const pid_t process = getpid();
  pid_t expected = 0;
  return __atomic_compare_exchange_n(&owner, &expected, process, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) ||
         expected == process;
}

bool reserveCode() {
  if (codeCount < codeCapacity)
    return true;
  const size_t capacity = codeCapacity ? codeCapacity * 2 : 16;
  auto* grown = static_cast<Code*>(realloc(codes, capacity * sizeof(Code)));
  if (!grown)
    return false;
  codes = grown;
  codeCapacity = capacity;
  return true;
}

void forget(void* handle) {
  size_t kept = 0;
  for (size_t index = 0; index < codeCount; ++index)
    if (codes[index].handle != handle)
      codes[kept++] = codes[index];
  codeCount = kept;
}

} // namespace

void mneme_rt_code_registered(const void* wrapper, void* handle) {
  if (!wrapper || !handle || !isOwner())
    return;
  pthread_mutex_lock(&lock);
  forget(handle); // program and recorder may both say so
  if (reserveCode())
    codes[codeCount++] = {static_cast<const Wrapper*>(wrapper)->data, handle, ++registrations};
  pthread_mutex_unlock(&lock);
}

void mneme_rt_code_unregistered(void* handle) {
  if (!isOwner())
    return;
  pthread_mutex_lock(&lock);
  forget(handle);
  pthread_mutex_unlock(&lock);
}

void* mneme_rt_code_handle(const void* fatbin, uint64_t* number) {
  if (!isOwner())
    return nullptr;
  void* handle = nullptr;
  pthread_mutex_lock(&lock);
  for (size_t index = 0; index < codeCount; ++index)
    if (codes[index].fatbin == fatbin) {
      handle = codes[index].handle;
      if (number)
        *number = codes[index].number;
    }
  pthread_mutex_unlock(&lock);
  return handle;
}
