// Threads that load a library, launch its kernel, unload it and launch one of the program's, all at
// the same time. Libraries register their kernels while the dynamic loader's lock is taken.
//
//   libraries <library>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <dlfcn.h>

__global__ void own(unsigned* values, unsigned factor) {
  values[threadIdx.x] = threadIdx.x * factor;
}

int main(int, char** arguments) {
  std::atomic<unsigned> sum{0};
  const auto work = [&] {
    for (unsigned turn = 0; turn < 15; ++turn) {
      void* library = dlopen(arguments[1], RTLD_NOW);
      const auto launch = reinterpret_cast<unsigned (*)(unsigned)>(dlsym(library, "launch"));
      sum += launch(turn);
      dlclose(library);
      unsigned *values = nullptr, last = 0;
      cudaMalloc(&values, 256 * sizeof(unsigned));
      own<<<1, 256>>>(values, turn);
      cudaMemcpy(&last, values + 255, sizeof(unsigned), cudaMemcpyDefault);
      cudaFree(values);
      sum += last;
    }
  };
  std::vector<std::thread> threads;
  for (int index = 0; index < 6; ++index)
    threads.emplace_back(work);
  for (std::thread& thread : threads)
    thread.join();
  std::printf("%u\n", sum.load());
}
