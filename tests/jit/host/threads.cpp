// Many threads ask for the same and for different values at once.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

__attribute__((annotate("jit", 1))) int work(int k, int x) {
  int s = 0;
  for (int i = 0; i < k; ++i)
    s += x * i;
  return s;
}

int main() {
  std::atomic<long> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i)
        sum += work(i % 4 + 1, i);
    });
  for (std::thread& thread : threads)
    thread.join();
  printf("%ld\n", sum.load());
}
