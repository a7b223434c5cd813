#include "runtime/core/base/cancellation.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

using namespace mneme;

namespace {

/// What pthread_join() says of a thread of type `type` that was cancelled while it could not be.
void* resultOfCancelled(int type) {
  struct Shared {
    int type;
    std::atomic<bool> isDeferred{false}, isCancelled{false};
  } shared{type};
  pthread_t thread;
  // glibc gives a new thread the stack of one that has ended, and with it the result that it had.
  pthread_create(&thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
  pthread_join(thread, nullptr);
  pthread_create(
      &thread, nullptr,
      [](void* given) -> void* {
        Shared& shared = *static_cast<Shared*>(given);
        pthread_setcanceltype(shared.type, nullptr);
        {
          DeferredCancellation deferred;
          shared.isDeferred = true;
          while (!shared.isCancelled)
            std::this_thread::yield();
        }
        pthread_testcancel();
        return nullptr;
      },
      &shared);
  while (!shared.isDeferred)
    std::this_thread::yield();
  pthread_cancel(thread);
  // The request waits; were its signal to come later, it would be handled as any.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  shared.isCancelled = true;
  void* result = nullptr;
  pthread_join(thread, &result);
  return result;
}

} // namespace

TEST_CASE("a thread that was cancelled where it could not be ends as cancelled") {
  CHECK(resultOfCancelled(PTHREAD_CANCEL_DEFERRED) == PTHREAD_CANCELED);
  CHECK(resultOfCancelled(PTHREAD_CANCEL_ASYNCHRONOUS) == PTHREAD_CANCELED);
}

TEST_CASE("the type of cancellation stays what it was") {
  int before = 0;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
  {
    DeferredCancellation deferred;
  }
  int after = 0;
  pthread_setcanceltype(before, &after);
  CHECK(after == PTHREAD_CANCEL_ASYNCHRONOUS);
}
