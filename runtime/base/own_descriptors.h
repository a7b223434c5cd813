// Room base: work of ours inside somebody's application, out of the way of its descriptors.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace mneme {

/// Gives the calling thread, and threads it starts from here on, a descriptor table of its own.
/// What they open is in no other table: the application can neither close it nor be short of the
/// number, and its children do not inherit it. In that table 0 and 1 are /dev/null, 2 is where
/// notices go, and nothing else of the application's is open; so neither the vendor's runtime nor
/// code of the application may be called. "/proc/self" is another thread's table,
/// "/proc/thread-self" this one's.
///
/// False where the system refuses (some containers do): descriptors are then shared, and UniqueFd
/// is careful with them.
bool takeOwnDescriptors() noexcept;

/// Runs `work` to its end on a thread with descriptors of its own, where signals are blocked, and
/// rethrows what it throws. Runs it here when this thread has its own, when no other can be
/// started, and when another could not use the dynamic loader because this one is inside it. No
/// cancellation point.
void runApart(const std::function<void()>& work);

/// runApart() for what returns something.
template <typename Work> auto apart(Work&& work) -> std::invoke_result_t<Work> {
  std::invoke_result_t<Work> result{};
  runApart([&] { result = std::forward<Work>(work)(); });
  return result;
}

} // namespace mneme
