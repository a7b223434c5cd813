// Room core/base: starts programs so that the application does not notice.
#pragma once

#include <functional>

namespace mneme {

/// Runs `work` to its end in another process that shares this one's memory, waits for it, and
/// rethrows what it throws. Programs that `work` starts are children of that process: the
/// application gets no SIGCHLD for them and its wait() does not find them. The other process ends
/// with this one. `work` must not depend on its process id, and may assume that signals are
/// blocked. If the system refuses such a process, `work` runs in this one.
void runUnnoticed(const std::function<void()>& work);

} // namespace mneme
