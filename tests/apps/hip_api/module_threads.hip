// Threads that load the code object of the first argument again and again, launch its kernels and
// unload it. Prints how many results were wrong. Nobody but kernels changes allocated memory once
// they have begun: fills and copies of other threads do not wait for a recording.
#include <hip/hip_runtime.h>

#include <atomic>
#include <barrier>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 6, kRounds = 8, kCount = 256;

struct Factors {
  int first, second;
};

std::atomic<int> wrong{0};
std::barrier begin(kThreads);

void expect(bool isRight) { wrong += !isRight; }

void work(const std::vector<char>& code, int thread) {
  int* data = nullptr;
  std::vector<int> host(kCount), expected(kCount);
  expect(hipMalloc(reinterpret_cast<void**>(&data), kCount * sizeof(int)) == hipSuccess);
  expect(hipMemset(data, 0, kCount * sizeof(int)) == hipSuccess);
  expect(hipDeviceSynchronize() == hipSuccess);
  begin.arrive_and_wait();
  for (int round = 0; round < kRounds; ++round) {
    hipModule_t module{};
    hipFunction_t function{};
    hipDeviceptr_t step{};
    size_t bytes = 0;
    int added = 100 * thread + round, count = kCount;
    Factors factors{3, thread};
    void* arguments[] = {&data, &count, &factors};
    expect(hipModuleLoadData(&module, code.data()) == hipSuccess);
    expect(hipModuleGetFunction(&function, module, "work") == hipSuccess);
    expect(hipModuleGetGlobal(&step, &bytes, module, "step") == hipSuccess);
    expect(hipMemcpyHtoD(step, &added, sizeof added) == hipSuccess);
    expect(hipModuleLaunchKernel(function, 2, 1, 1, kCount / 2, 1, 1, 0, nullptr, arguments,
                                 nullptr) == hipSuccess);
    expect(hipMemcpy(host.data(), data, kCount * sizeof(int), hipMemcpyDeviceToHost) == hipSuccess);
    for (int i = 0; i < kCount; ++i)
      expected[i] = expected[i] * 3 + thread + added + (i & 1 ? 7 : 5);
    expect(host == expected);
    expect(hipModuleUnload(module) == hipSuccess);
  }
  begin.arrive_and_wait();
  expect(hipFree(data) == hipSuccess);
}

} // namespace

int main(int, char** argv) {
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] { work(code, thread); });
  for (std::thread& thread : threads)
    thread.join();
  std::printf("%d wrong\n", wrong.load());
}
