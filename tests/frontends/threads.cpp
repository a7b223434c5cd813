// Threads that want the same modules at once. Each module and each instance is compiled once.
#include <atomic>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <proteus/CppJitModule.h>
#include <proteus/LLVMIRJitModule.h>

int main() {
  constexpr int kThreads = 8;
  proteus::CppJitModule source("host", R"cpp(
    extern "C" int increase(int a) { return a + 1; }
    template <int N> int times(int a) { return a * N; }
  )cpp");
  proteus::LLVMIRJitModule text("host", R"(
define i32 @decrease(i32 %a) {
  %r = sub i32 %a, 1
  ret i32 %r
})");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int index = 0; index < kThreads; ++index)
    threads.emplace_back([&, index] {
      wrong += source.getFunction<int(int)>("increase").run(index) != index + 1;
      wrong += text.getFunction<int(int)>("decrease").run(index) != index - 1;
      wrong += source.instantiate("times", "3").run<int>(index) != index * 3;
      const std::string own = std::to_string(index);
      wrong += source.instantiate("times", own.c_str()).run<int>(index) != index * index;
    });
  for (std::thread& thread : threads)
    thread.join();
  std::cout << "wrong " << wrong << std::endl;
}
