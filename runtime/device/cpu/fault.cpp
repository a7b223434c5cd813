#include "runtime/device/cpu/fault.h"

#include <cstring>
#include <mutex>

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace mneme::device::cpu {

namespace {

constexpr int faultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr size_t signalStackBytes = 128 * 1024;

struct sigaction previousActions[4];
int stopSignal = 0;

// Initial-exec: read in signal handlers, where a lazily allocated thread-local must not be.
[[gnu::tls_model("initial-exec")]] thread_local Worker* currentWorker = nullptr;

/// The alternate signal stack of a thread that had none; goes with the thread.
struct SignalStack {
  void* base = nullptr;

  void require() {
    stack_t current{};
    if (base || (sigaltstack(nullptr, &current) == 0 && !(current.ss_flags & SS_DISABLE)))
      return;
    void* memory = mmap(nullptr, signalStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return;
    stack_t ours{};
    ours.ss_sp = memory;
    ours.ss_size = signalStackBytes;
    if (sigaltstack(&ours, nullptr) == 0)
      base = memory;
    else
      munmap(memory, signalStackBytes);
  }
  ~SignalStack() {
    if (!base)
      return;
    stack_t current{};
    if (sigaltstack(nullptr, &current) == 0 && current.ss_sp == base) {
      stack_t none{};
      none.ss_flags = SS_DISABLE;
      sigaltstack(&none, nullptr);
    }
    munmap(base, signalStackBytes);
  }
};

thread_local SignalStack signalStack;

uint64_t stackPointerOf(void* context) noexcept {
  auto* user = static_cast<ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<uint64_t>(user->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return user->uc_mcontext.sp;
#else
  (void)user;
  return 0;
#endif
}

FaultKind classify(int signal, uint64_t address, uint64_t stackPointer, const Worker& worker) {
  if (signal == SIGFPE)
    return FaultKind::Arithmetic;
  if (signal == SIGILL)
    return FaultKind::Trap;
  constexpr uint64_t reach = 64 * 1024;
  const bool isNearStack = stackPointer != 0 && address + reach >= stackPointer &&
                           address < stackPointer + 256;
  if (signal == SIGSEGV && (isNearStack || worker.fibers.isGuard(address)))
    return FaultKind::StackOverflow;
  return FaultKind::IllegalAddress;
}

void callPrevious(int signal, siginfo_t* info, void* context, const struct sigaction& previous) {
  sigset_t blocked = previous.sa_mask;
  if (!(previous.sa_flags & SA_NODEFER))
    sigaddset(&blocked, signal);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  if (previous.sa_flags & SA_SIGINFO)
    previous.sa_sigaction(signal, info, context);
  else
    previous.sa_handler(signal);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A fault repeats when the handler returns, so the default action then takes it; a signal somebody
// sent does not and is sent again.
void takeDefault(int signal, const siginfo_t* info) {
  struct sigaction fallback{};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal, &fallback, nullptr);
  if (info->si_code <= 0)
    raise(signal);
}

void chain(int signal, siginfo_t* info, void* context) {
  int slot = 0;
  while (faultSignals[slot] != signal)
    ++slot;
  struct sigaction& previous = previousActions[slot];
  const bool isDefault = !(previous.sa_flags & SA_SIGINFO) && previous.sa_handler == SIG_DFL;
  const bool isIgnored = !(previous.sa_flags & SA_SIGINFO) && previous.sa_handler == SIG_IGN;
  if (isDefault || (isIgnored && info->si_code > 0)) {
    takeDefault(signal, info);
    return;
  }
  if (isIgnored)
    return;
  const struct sigaction action = previous;
  if (previous.sa_flags & static_cast<int>(SA_RESETHAND)) {
    previous = {};
    previous.sa_handler = SIG_DFL;
  }
  callPrevious(signal, info, context, action);
}

void onFault(int signal, siginfo_t* info, void* context) {
  Worker* worker = currentWorker;
  if (worker && worker->isInDevice && info->si_code > 0) {
    const auto address = reinterpret_cast<uint64_t>(info->si_addr);
    worker->pendingKind = classify(signal, address, stackPointerOf(context), *worker);
    worker->pendingAddress = address;
    worker->escapeDevice();
  }
  const int savedErrno = errno;
  chain(signal, info, context);
  errno = savedErrno;
}

void onStop(int, siginfo_t*, void*) {
  Worker* worker = currentWorker;
  if (worker && worker->isInDevice && !worker->isInService &&
      worker->state->isStopping.load(std::memory_order_relaxed))
    worker->escapeDevice();
}

// The highest real-time signal that the host program does not use.
int chooseStopSignal() {
  for (int signal = SIGRTMAX - 1; signal > SIGRTMIN; --signal) {
    struct sigaction current{};
    if (sigaction(signal, nullptr, &current) == 0 && !(current.sa_flags & SA_SIGINFO) &&
        current.sa_handler == SIG_DFL)
      return signal;
  }
  return 0;
}

} // namespace

void installFaultHandlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    // No signal is blocked while a handler runs: it leaves with siglongjmp, which restores no mask.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = onFault;
    for (size_t i = 0; i < std::size(faultSignals); ++i) {
      sigaction(faultSignals[i], nullptr, &previousActions[i]);
      sigaction(faultSignals[i], &action, nullptr);
    }
    stopSignal = chooseStopSignal();
    action.sa_sigaction = onStop;
    if (stopSignal)
      sigaction(stopSignal, &action, nullptr);
  });
}

void setCurrentWorker(Worker* worker) {
  if (worker)
    signalStack.require();
  currentWorker = worker;
}

void interruptWorker(Worker& worker) noexcept {
  if (stopSignal && worker.isRunning.load(std::memory_order_acquire))
    pthread_kill(worker.thread, stopSignal);
}

std::string describeFault(const Worker& worker) {
  const std::string kernel = "kernel '" + std::string(worker.state->header->kernelName) + "'";
  char address[32];
  snprintf(address, sizeof address, "0x%llx",
           static_cast<unsigned long long>(worker.pendingAddress));
  switch (worker.pendingKind) {
  case FaultKind::StackOverflow:
    return kernel + " overflowed the stack of a thread in " + whereIs(worker) + " (address " +
           address + ")";
  case FaultKind::Arithmetic:
    return kernel + " divided an integer by zero in " + whereIs(worker);
  case FaultKind::Trap:
    return kernel + " executed an illegal instruction in " + whereIs(worker);
  default:
    return kernel + " accessed the illegal address " + address + " in " + whereIs(worker);
  }
}

} // namespace mneme::device::cpu
