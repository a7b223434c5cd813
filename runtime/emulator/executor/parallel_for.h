// Room emulator/executor: host-side loops on the worker pool. Included by pool.h.
#pragma once

#include <algorithm>

namespace mneme::device::cpu {

template <typename Task> void parallelFor(uint64_t count, const Task& task) {
  if (count == 0)
    return;
  if (count == 1) {
    task(uint64_t{0});
    return;
  }
  struct Shared {
    const Task& task;
    uint64_t count;
    std::atomic<uint64_t> next{0};
  } shared{task, count};
  Pool& pool = Pool::instance();
  std::lock_guard lock(pool.mutex());
  const auto participants = static_cast<uint32_t>(std::min<uint64_t>(pool.size(), count));
  pool.run(
      participants,
      [](Worker&, void* argument) {
        auto& work = *static_cast<Shared*>(argument);
        for (uint64_t i = work.next.fetch_add(1); i < work.count; i = work.next.fetch_add(1))
          work.task(i);
      },
      &shared, nullptr);
}

} // namespace mneme::device::cpu
