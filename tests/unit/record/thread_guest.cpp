// A program to be recorded whose threads launch, copy, fork, are cancelled and jump in the way its
// first argument names. The second is a number of threads.
#include <atomic>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/record/guest_kernel.h"

extern "C" int cudaMemcpy(void* to, const void* from, size_t bytes, int kind);

using namespace mneme::record::test;

namespace {

constexpr int kCount = 512;
// Counts of more than that make the kernel do something else.
constexpr int kWait = 100'000, kSleep = 200'000, kWork = 300'000, kWatch = 400'000,
              kWrite = 500'000;
constexpr int kHostToHost = 0, kBehindWork = 100; // kinds of copies

std::atomic<bool> isStopping{false}, shallEnd{false};
std::atomic<int> launched{0}, changed{0};
volatile int cell = 0; ///< what threads copy to

void pauseFor(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

int kernel(mneme_dim3, mneme_dim3, void** args) {
  float* data = *static_cast<float**>(args[0]);
  const int count = *static_cast<int*>(args[1]);
  for (int index = 0; index < kCount; ++index)
    data[index] = data[index] + 1;
  if (count >= kWrite) {
    cell = 1;
  } else if (count >= kWatch) {
    const int before = cell;
    pauseFor(50);
    changed += cell != before;
  } else if (count >= kWork)
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
         std::chrono::steady_clock::now() < end;) {
    }
  else if (count >= kSleep)
    usleep(20'000); // where a thread can be cancelled
  else if (count >= kWait)
    while (!shallEnd) { // and here not
    }
  ++launched;
  return 0;
}

int launch(float* data, int count) { return launchKernel(kernel, data, count); }

float* makeData() {
  void* data = nullptr;
  cudaMalloc(&data, kCount * sizeof(float));
  std::memset(data, 0, kCount * sizeof(float));
  return static_cast<float*>(data);
}

/// Threads that launch until they are stopped, each on memory of its own.
class Launchers {
public:
  Launchers(int count, int argument) {
    for (int index = 0; index < count; ++index)
      threads_.emplace_back([argument] {
        float* data = makeData();
        while (!isStopping)
          launch(data, argument);
        cudaFree(data);
      });
    while (launched < count)
      pauseFor(1);
  }
  void stop() {
    isStopping = true;
    for (std::thread& thread : threads_)
      thread.join();
  }
  void detach() {
    for (std::thread& thread : threads_)
      thread.detach();
  }

private:
  std::vector<std::thread> threads_;
};

void say(const char* what, std::chrono::steady_clock::time_point since) {
  const auto elapsed = std::chrono::steady_clock::now() - since;
  std::fprintf(
      stderr, "%s took %d ms\n", what,
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count()));
}

void launchBeside(int threads) {
  Launchers launchers(threads, kWork);
  float* data = makeData();
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < 4; ++round)
    launch(data, round);
  say("launches", begin);
  launchers.stop();
  std::fprintf(stderr, "launched %d times\n", launched.load());
  std::printf("value %g\n", static_cast<double>(data[0]));
}

int copyToCell(int value) {
  return cudaMemcpy(const_cast<int*>(&cell), &value, sizeof value, kHostToHost);
}

void copyBeside(int threads) {
  std::vector<std::thread> copiers;
  for (int index = 0; index < threads; ++index)
    copiers.emplace_back([] {
      for (int value = 1; !isStopping; ++value)
        copyToCell(value);
    });
  while (cell == 0)
    pauseFor(1);
  float* data = makeData();
  for (int round = 0; round < 4; ++round)
    launch(data, kWatch + round);
  for (const int before = cell; cell == before;) // they go on
    pauseFor(1);
  isStopping = true;
  for (std::thread& copier : copiers)
    copier.join();
  std::fprintf(stderr, "changed in %d kernels\n", changed.load());
}

/// Another thread's copy ends when the kernel has run.
void copyBehindLaunch() {
  std::thread other([] {
    int copied = 0;
    cudaMemcpy(&copied, const_cast<int*>(&cell), sizeof copied, kBehindWork);
    std::printf("copied %d\n", copied);
  });
  pauseFor(100);
  launch(makeData(), kWrite);
  other.join();
  launch(makeData(), 2);
}

void forkBeside(int threads) {
  Launchers launchers(threads, kWork);
  float* data = makeData();
  const auto begin = std::chrono::steady_clock::now();
  int good = 0;
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0)
      _exit(cudaFree(data) == 0 ? 5 : 6);
    int status = 0;
    waitpid(child, &status, 0);
    good += WIFEXITED(status) && WEXITSTATUS(status) == 5;
  }
  say("forks", begin);
  launchers.stop();
  std::printf("good children %d\n", good);
}

void cancelThreads(int threads, bool isAsynchronous) {
  int cancelled = 0;
  for (int round = 0; round < threads; ++round) {
    std::atomic<bool> hasBegun{false};
    std::function<void()> work = [&] {
      int before = 0;
      pthread_setcanceltype(isAsynchronous ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED,
                            &before);
      float* data = makeData();
      for (int number = 0;; ++number) {
        launch(data, isAsynchronous ? kWork + round : kSleep + round);
        if (number == 1)
          hasBegun = true;
      }
    };
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void* given) -> void* {
          (*static_cast<std::function<void()>*>(given))();
          return nullptr;
        },
        &work);
    while (!hasBegun)
      pauseFor(1);
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    cancelled += result == PTHREAD_CANCELED;
  }
  launch(makeData(), 1);
  std::printf("cancelled %d\n", cancelled);
}

sigjmp_buf place;

/// Out of a kernel, at a signal. The first launch of its kind is one that is recorded.
void jumpOut(int rounds) {
  struct sigaction action{};
  action.sa_handler = [](int) { siglongjmp(place, 1); };
  sigaction(SIGALRM, &action, nullptr);
  float* data = makeData();
  static int jumps = 0; // not in a register
  for (static int round = 0; round < rounds; ++round) {
    itimerval soon{{0, 0}, {0, 50'000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
    if (sigsetjmp(place, 1) == 0)
      launch(data, kWait + round % 2);
    else
      ++jumps;
  }
  shallEnd = true;
  launch(data, 1);
  launch(data, kWait);
  std::printf("jumps %d\n", jumps);
}

/// Another thread jumps out of a launch that is recorded and calls the runtime no more.
void jumpAside() {
  struct sigaction action{};
  action.sa_handler = [](int) { siglongjmp(place, 1); };
  sigaction(SIGUSR1, &action, nullptr);
  std::atomic<bool> isAway{false};
  std::thread jumper([&] {
    if (sigsetjmp(place, 1) == 0)
      launch(makeData(), kWait);
    isAway = true;
    while (!isStopping)
      pauseFor(1);
  });
  pauseFor(100);
  pthread_kill(jumper.native_handle(), SIGUSR1);
  while (!isAway)
    pauseFor(1);
  float* data = makeData();
  launch(data, 2);
  launch(data, 3);
  isStopping = true;
  jumper.join();
  std::printf("value %g\n", static_cast<double>(data[0]));
}

/// The program ends in another thread's launch, which goes on.
void endBesideLongLaunch() {
  std::thread([] { launch(makeData(), kWait); }).detach();
  pauseFor(100);
}

/// A kernel that ends once another thread has called the runtime.
void launchThatNeedsAnother(bool isCopy) {
  float* data = makeData();
  std::thread other([isCopy] {
    pauseFor(50);
    if (isCopy)
      copyToCell(1);
    else
      cudaFree(makeData());
    shallEnd = true;
  });
  launch(data, kWait);
  other.join();
  launch(data, 2);
  std::printf("value %g\n", static_cast<double>(data[0]));
}

void endThreadInside() {
  std::thread([] {
    const GuestKernel ending = [](mneme_dim3, mneme_dim3, void**) -> int { pthread_exit(nullptr); };
    float* data = makeData();
    void* args[] = {&data};
    mneme_launch request{};
    request.version = MNEME_RT_ABI;
    request.kernel = reinterpret_cast<const void*>(ending);
    request.grid = request.block = {1, 1, 1};
    request.args = args;
    request.vendorEntry = reinterpret_cast<void*>(&cudaLaunchKernel);
    mneme_launch_kernel(&request);
  }).join();
  launch(makeData(), 1);
}

void replaceInVain() {
  float* data = makeData();
  launch(data, 1);
  char name[] = "nothing";
  char* arguments[] = {name, nullptr};
  int failed = 0;
  failed += execv("/no/such/program", arguments) == -1 && errno == ENOENT;
  failed += execvp("no-such-program-anywhere", arguments) == -1 && errno == ENOENT;
  failed += execl("/proc/self/maps", "maps", static_cast<char*>(nullptr)) == -1;
  std::printf("failed %d\n", failed);
  launch(data, 2);
}

void startOthers() {
  std::fflush(stdout);
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  pid_t child = 0;
  int status = 0;
  if (posix_spawnp(&child, "true", nullptr, nullptr, arguments, environ) == 0)
    waitpid(child, &status, 0);
  std::printf("spawn %d system %d\n", status, std::system("exit 3"));
  std::fflush(stdout);
  if (vfork() == 0) {
    execl("/no/such/program", "nothing", static_cast<char*>(nullptr));
    execlp("true", "true", static_cast<char*>(nullptr));
    _exit(1);
  }
  wait(&status);
  std::printf("vfork %d\n", status);
  launch(makeData(), 1);
}

} // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : 2;
  if (mode == "clearenv")
    clearenv();
  if (mode == "chdir" && chdir("/") != 0)
    return 1;
  registerKernel(kernel);
  launch(makeData(), 0);
  if (mode == "beside")
    launchBeside(number);
  if (mode == "copies")
    copyBeside(number);
  if (mode == "copy-behind")
    copyBehindLaunch();
  if (mode == "fork")
    forkBeside(number);
  if (mode == "detached")
    Launchers(number, kWork).detach();
  if (mode == "cancel" || mode == "cancel-asynchronously")
    cancelThreads(number, mode != "cancel");
  if (mode == "jump")
    jumpOut(number);
  if (mode == "jump-aside")
    jumpAside();
  if (mode == "beside-long") {
    launch(makeData(), kWork);
    endBesideLongLaunch();
  }
  if (mode == "needs-another" || mode == "needs-a-copy")
    launchThatNeedsAnother(mode == "needs-a-copy");
  if (mode == "thread-ends")
    endThreadInside();
  if (mode == "exec-fails")
    replaceInVain();
  if (mode == "spawn")
    startOthers();
  std::fflush(stdout);
  return 0;
}
