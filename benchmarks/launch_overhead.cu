// Times the host's side of kernel launches, in batches short enough that the queue never fills.
// Prints {"best": ns per launch, "median": ns per launch}.
// usage: launch_overhead [batches=40000] [launches per batch=256] [values of the argument=256]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

__global__ void empty(float*, int) {}

int main(int argc, char** argv) {
  const int batches = argc > 1 ? std::atoi(argv[1]) : 40000;
  const int launches = argc > 2 ? std::atoi(argv[2]) : 256;
  const int values = argc > 3 ? std::atoi(argv[3]) : 256;
  std::vector<double> perLaunch;
  // Every tenth batch more is for warming up.
  for (int batch = -batches / 10 - 1; batch < batches; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i)
      empty<<<1, 32>>>(nullptr, i % values);
    const std::chrono::duration<double, std::nano> elapsed =
        std::chrono::steady_clock::now() - start;
    if (cudaDeviceSynchronize() != cudaSuccess) {
      std::fprintf(stderr, "launch_overhead: an empty kernel failed\n");
      return 2;
    }
    if (batch >= 0)
      perLaunch.push_back(elapsed.count() / launches);
  }
  std::sort(perLaunch.begin(), perLaunch.end());
  std::printf("{\"best\": %.3f, \"median\": %.3f}\n", perLaunch.front(),
              perLaunch[perLaunch.size() / 2]);
}
