// Room core/base: keeps our files out of the application's descriptors.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace mneme {

/// Gives the calling thread, and threads it starts from now on, a descriptor table of their own.
/// The application can neither close what they open nor lack its numbers, and its children do not
/// inherit it. In the new table 0 and 1 are /dev/null, 2 is where notices go, and nothing else of
/// the application is open. So neither the vendor's runtime nor code of the application may be
/// called. "/proc/self" shows another thread's table, "/proc/thread-self" this one.
///
/// Returns false if the system refuses, as some containers do. Descriptors are then shared, and
/// UniqueFd is careful with them.
bool takeOwnDescriptors() noexcept;

/// Runs `work` to its end on a thread with its own descriptors and with signals blocked, and
/// rethrows what it throws. Runs `work` on the calling thread if that has its own descriptors, if
/// no thread can be started, or if the calling thread is inside the dynamic loader, which the other
/// thread would then wait for. Not a cancellation point.
void runApart(const std::function<void()>& work);

/// runApart() for functions that return a value.
template <typename Work> auto apart(Work&& work) -> std::invoke_result_t<Work> {
  std::invoke_result_t<Work> result{};
  runApart([&] { result = std::forward<Work>(work)(); });
  return result;
}

} // namespace mneme
