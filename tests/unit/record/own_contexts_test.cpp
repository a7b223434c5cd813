#include "runtime/recorder/backends/cuda/own_contexts.h"

#include <atomic>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace mneme::record {

using device::cuda::CUcontext;

namespace {

char places[3];
CUcontext context(size_t index) { return reinterpret_cast<CUcontext>(&places[index]); }

} // namespace

TEST_CASE("contexts of one device are waited for until they end") {
  OwnContexts contexts;
  contexts.note(context(0), 0);
  contexts.note(context(1), 1);
  contexts.note(context(2), 0);
  contexts.note(context(2), 0);
  std::vector<CUcontext> waited;
  const auto wait = [&](CUcontext one) { return waited.push_back(one), one == context(2) ? 7 : 0; };
  CHECK(contexts.waitForAll(0, wait) == 7);
  CHECK(waited == std::vector{context(0), context(2)});
  contexts.forget(context(2));
  contexts.forget(context(2)); // which is not there any more
  CHECK(contexts.waitForAll(0, wait) == 0);
  CHECK(waited.size() == 3);
}

TEST_CASE("a context does not end while it is waited for, and not because of another one") {
  OwnContexts contexts;
  contexts.note(context(0), 0);
  contexts.note(context(1), 0);
  std::atomic<bool> isWaiting{false}, mayGoOn{false}, hasEnded{false};
  std::thread waiter([&] {
    contexts.waitForAll(0, [&](CUcontext one) {
      CHECK(one == context(0)); // the other one has ended when it is its turn
      isWaiting = true;
      isWaiting.notify_all();
      mayGoOn.wait(false);
      CHECK_FALSE(hasEnded);
      return 0;
    });
  });
  isWaiting.wait(false);
  contexts.forget(context(1));
  std::thread ender([&] {
    contexts.forget(context(0));
    hasEnded = true;
  });
  mayGoOn = true;
  mayGoOn.notify_all();
  waiter.join();
  ender.join();
  CHECK(hasEnded);
}

} // namespace mneme::record
