// Room base: starting programs inside somebody's application without its noticing.
#pragma once

#include <functional>

namespace mneme {

/// Runs `work` to its end in a process that shares this one's memory, and rethrows what it throws;
/// the caller waits. Programs that `work` starts are that process's children: no SIGCHLD of theirs
/// comes here and no wait() of the application finds them. Ends with this process. `work` may not
/// depend on its process id, and takes signals for blocked. Where the system refuses such a
/// process, `work` runs here.
void runUnnoticed(const std::function<void()>& work);

} // namespace mneme
