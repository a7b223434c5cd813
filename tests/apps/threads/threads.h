// Threads that launch without a pause, are cancelled or jump; a program that leaves its environment
// and directory. The first argument says which, the second how many threads. Compiled as CUDA by
// threads.cu and as HIP by threads.hip.
#pragma once

#include <atomic>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void advance(int* data, int rounds) {
  for (int round = 0; round < rounds; ++round)
    data[threadIdx.x] = data[threadIdx.x] * 3 + 1;
}

namespace {

constexpr int kThreads = 64;
std::atomic<bool> isStopping{false};
std::atomic<int> launched{0};

int* makeData() {
  int* data = nullptr;
  cudaMalloc(&data, kThreads * sizeof(int));
  cudaMemset(data, 0, kThreads * sizeof(int));
  return data;
}

void launch(int* data, int rounds) {
  advance<<<1, kThreads>>>(data, rounds);
  ++launched;
}

void print(int* data) {
  int first = 0;
  cudaMemcpy(&first, data, sizeof first, cudaMemcpyDeviceToHost);
  std::printf("value %d\n", first);
}

std::vector<std::thread> startLaunching(int count) {
  std::vector<std::thread> threads;
  for (int index = 0; index < count; ++index)
    threads.emplace_back([] {
      int* data = makeData();
      while (!isStopping) {
        launch(data, 99);
        cudaDeviceSynchronize();
      }
    });
  while (launched < count)
    usleep(1000);
  return threads;
}

void stop(std::vector<std::thread>& threads) {
  isStopping = true;
  for (std::thread& thread : threads)
    thread.join();
}

int forkOften(int count) {
  int good = 0;
  for (int round = 0; round < count; ++round) {
    const pid_t child = fork();
    if (child == 0)
      _exit(7);
    int status = 0;
    waitpid(child, &status, 0);
    good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
  }
  return good;
}

int cancelOften(int count) {
  int cancelled = 0;
  for (int round = 0; round < count; ++round) {
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          for (int* data = makeData();;) {
            launch(data, 7);
            pthread_testcancel();
          }
        },
        nullptr);
    usleep(20'000);
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    cancelled += result == PTHREAD_CANCELED;
  }
  return cancelled;
}

sigjmp_buf place;

/// Out of a kernel of some seconds, or of a wait for it.
bool jumpOut(int* data) {
  struct sigaction action{};
  action.sa_handler = [](int) { siglongjmp(place, 1); };
  sigaction(SIGALRM, &action, nullptr);
  itimerval soon{{0, 0}, {0, 200'000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  if (sigsetjmp(place, 1) != 0)
    return true;
  launch(data, 2'000'000'000);
  cudaDeviceSynchronize();
  return false;
}

} // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 4;
  if (mode == "away" && (clearenv() != 0 || chdir("/") != 0))
    return 1;
  int* data = makeData();
  if (mode == "beside") {
    auto threads = startLaunching(count);
    const auto begin = std::chrono::steady_clock::now();
    for (int rounds = 1; rounds <= 4; ++rounds)
      launch(data, rounds);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    std::fprintf(stderr, "took %.3f s\n", elapsed.count());
    std::printf("children %d\n", forkOften(5));
    stop(threads);
    std::fprintf(stderr, "launched %d\n", launched.load());
  }
  if (mode == "detached")
    for (std::thread& thread : startLaunching(count))
      thread.detach();
  if (mode == "cancel")
    std::printf("cancelled %d\n", cancelOften(count));
  if (mode == "jump") {
    std::printf("jumped %d\n", jumpOut(data));
    std::fflush(stdout);
    std::exit(0); // the kernel still runs on the memory
  }
  launch(data, 5);
  print(data);
}
