#include "runtime/core/base/unnoticed_child.h"

#include <cerrno>
#include <csignal>
#include <exception>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/core/base/blocked_signals.h"
#include "runtime/core/base/error.h"

// clone() of the C library by its second name, which ThreadSanitizer does not take the place of: it
// takes the child for a fork, which has another memory, and ends the program.
extern "C" [[gnu::weak]] int __clone(int (*work)(void*), void* stack, int flags, void* argument,
                                     ...);

namespace mneme {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20;

struct Call {
  const std::function<void()>& work;
  pid_t caller;
  std::exception_ptr error;
  bool isDone = false;
};

class Stack {
public:
  Stack()
      : base_(mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0)) {}
  ~Stack() {
    if (base_ != MAP_FAILED)
      munmap(base_, kStackBytes);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  void* top() const {
    return base_ == MAP_FAILED ? nullptr : static_cast<char*>(base_) + kStackBytes;
  }

private:
  void* base_;
};

int perform(void* argument) {
  auto& call = *static_cast<Call*>(argument);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The handlers are a copy: only here children are not reaped by themselves.
  std::signal(SIGCHLD, SIG_DFL);
  if (getppid() == call.caller) {
    try {
      call.work();
    } catch (...) {
      call.error = std::current_exception();
    }
    call.isDone = true;
  }
  // Not _exit(): where LLVM is, that leaves the compilation that this thread's data speak of.
  syscall(SYS_exit_group, 0);
  return 0;
}

} // namespace

void runUnnoticed(const std::function<void()>& work) {
  const BlockedSignals blocked;
  const Stack stack;
  Call call{work, getpid(), nullptr};
  // The child's end raises no signal. This thread stands still until then, so that its
  // thread-local data, which the child shares, has one user.
  const auto start = __clone ? __clone : clone;
  const pid_t child = stack.top() ? start(perform, stack.top(), CLONE_VM | CLONE_VFORK, &call) : -1;
  if (child < 0) {
    work();
    return;
  }
  while (waitpid(child, nullptr, __WCLONE) < 0 && errno == EINTR)
    continue;
  if (!call.isDone)
    throw Error(ErrorCode::Internal, "the process that waits for a program was ended");
  if (call.error)
    std::rethrow_exception(call.error);
}

} // namespace mneme
