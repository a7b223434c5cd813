#include "runtime/emulator/executor/fault.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace mneme::device::cpu {

namespace {

constexpr int faultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr size_t signalStackBytes = 128 * 1024;

// A host program may install handlers after us; ours then goes on top again, and theirs may in turn
// call ours as the one they found. So there is a stack of earlier actions for each signal.
constexpr size_t maxActions = 8;
struct EarlierActions {
  struct sigaction actions[maxActions];
  std::atomic<size_t> count{0};
};
EarlierActions earlierActions[4];
std::atomic<int> stopSignal{0};

// Initial-exec: read in signal handlers, where a lazily allocated thread-local must not be.
[[gnu::tls_model("initial-exec")]] thread_local Worker* currentWorker = nullptr;

/// While an earlier handler runs: where its caller's frame is, and which action it was.
struct Chaining {
  uintptr_t frame = 0;
  size_t action = 0;
};
[[gnu::tls_model("initial-exec")]] thread_local Chaining chaining;

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

[[noreturn]] void leaveDevice() { currentWorker->escapeDevice(); }

[[noreturn]] void escapeFromHandler(Worker& worker) {
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, stopSignal);
  pthread_sigmask(SIG_UNBLOCK, &stops, nullptr);
  worker.escapeDevice();
}

// Makes the interrupted code continue in leaveDevice when the handler returns, so that the escape
// starts on the stack of the device code and not on the signal stack. A stack that has overflowed
// is given up and used again from its top. Where that cannot be done, the escape starts right here.
void continueInEscape(void* context, Worker& worker, bool isOverflow) {
  auto* user = static_cast<ucontext_t*>(context);
  uint64_t stackPointer = stackPointerOf(context);
  if (isOverflow) {
    const Fiber* fiber = worker.currentFiber;
    if (fiber == &worker.mainFiber)
      escapeFromHandler(worker);
    stackPointer = reinterpret_cast<uint64_t>(fiber->stackLow + fiber->stackBytes) - 256;
  }
  constexpr uint64_t redZone = 256;
  stackPointer = (stackPointer - redZone) & ~uint64_t{15};
#if defined(__x86_64__)
  user->uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(stackPointer - 8);
  user->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&leaveDevice);
#elif defined(__aarch64__)
  user->uc_mcontext.sp = stackPointer;
  user->uc_mcontext.pc = reinterpret_cast<uint64_t>(&leaveDevice);
#else
  (void)user;
  escapeFromHandler(worker);
#endif
}

FaultKind classify(int signal, uint64_t address, uint64_t stackPointer, const Worker& worker) {
  if (signal == SIGFPE)
    return FaultKind::Arithmetic;
  if (signal == SIGILL)
    return FaultKind::Trap;
  constexpr uint64_t reach = 64 * 1024;
  const bool isNearStack =
      stackPointer != 0 && address + reach >= stackPointer && address < stackPointer + 256;
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

// A fault repeats when the handler returns, so the default action then handles it. A signal that
// was sent does not repeat, so it is sent again.
void takeDefault(int signal, const siginfo_t* info) {
  struct sigaction fallback{};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal, &fallback, nullptr);
  if (info->si_code <= 0)
    raise(signal);
}

// Called by our handler from its own frame. Called from inside an earlier handler, it goes on to
// the action before that; a frame left by longjmp lies above the current one and does not count.
size_t actionToTake(const EarlierActions& earlier, uintptr_t frame) {
  const bool isNested =
      chaining.frame != 0 && frame < chaining.frame && chaining.frame - frame < 256 * 1024;
  if (isNested)
    return chaining.action > 0 ? chaining.action - 1 : maxActions;
  const size_t count = earlier.count.load(std::memory_order_acquire);
  return count > 0 ? count - 1 : maxActions;
}

void chain(int signal, siginfo_t* info, void* context) {
  int slot = 0;
  while (faultSignals[slot] != signal)
    ++slot;
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const size_t index = actionToTake(earlierActions[slot], frame);
  if (index >= maxActions) {
    takeDefault(signal, info);
    return;
  }
  struct sigaction& earlier = earlierActions[slot].actions[index];
  const struct sigaction action = earlier;
  const bool hasInfo = (action.sa_flags & SA_SIGINFO) != 0;
  if (!hasInfo && action.sa_handler == SIG_IGN && info->si_code <= 0)
    return;
  if (!hasInfo && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
    takeDefault(signal, info);
    return;
  }
  if (action.sa_flags & static_cast<int>(SA_RESETHAND)) {
    earlier = {};
    earlier.sa_handler = SIG_DFL;
  }
  const Chaining outer = chaining;
  chaining = {frame, index};
  callPrevious(signal, info, context, action);
  chaining = outer;
}

void onFault(int signal, siginfo_t* info, void* context) {
  Worker* worker = currentWorker;
  if (worker && worker->isInDevice && info->si_code > 0) {
    const auto address = reinterpret_cast<uint64_t>(info->si_addr);
    worker->pendingKind = classify(signal, address, stackPointerOf(context), *worker);
    worker->pendingAddress = address;
    continueInEscape(context, *worker, worker->pendingKind == FaultKind::StackOverflow);
    return;
  }
  const int savedErrno = errno;
  chain(signal, info, context);
  errno = savedErrno;
}

void onStop(int, siginfo_t*, void* context) {
#ifdef MNEME_FIBER_ASAN
  if (isSwitchingFibers())
    return;
#endif
  Worker* worker = currentWorker;
  if (worker && worker->isInDevice && !worker->isInService &&
      worker->state->isStopping.load(std::memory_order_relaxed))
    continueInEscape(context, *worker, false);
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

namespace {

bool isOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == onFault;
}

void installAll() {
  if (!stopSignal)
    stopSignal = chooseStopSignal();
  struct sigaction action{};
  // A stop waits until the handler of a fault or of another stop has returned.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (stopSignal)
    sigaddset(&action.sa_mask, stopSignal);
  action.sa_sigaction = onFault;
  for (size_t i = 0; i < std::size(faultSignals); ++i) {
    struct sigaction current{};
    EarlierActions& earlier = earlierActions[i];
    if (sigaction(faultSignals[i], nullptr, &current) != 0 || isOurs(current))
      continue;
    const size_t count = std::min(earlier.count.load(), maxActions - 1);
    earlier.actions[count] = current;
    earlier.count.store(count + 1, std::memory_order_release);
    sigaction(faultSignals[i], &action, nullptr);
  }
  action.sa_sigaction = onStop;
  if (stopSignal)
    sigaction(stopSignal, &action, nullptr);
}

} // namespace

// One system call where nothing has changed since the last launch.
void installFaultHandlers() {
  struct sigaction current{};
  if (sigaction(SIGSEGV, nullptr, &current) == 0 && isOurs(current))
    return;
  static std::mutex* mutex = new std::mutex;
  std::lock_guard lock(*mutex);
  installAll();
}

void setCurrentWorker(Worker* worker) {
  if (worker)
    signalStack.require();
  currentWorker = worker;
}

void interruptWorker(Worker& worker) noexcept {
  const int signal = stopSignal;
  if (signal && worker.isRunning.load(std::memory_order_acquire))
    pthread_kill(worker.thread, signal);
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
