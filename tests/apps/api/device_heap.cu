// malloc, free, new and delete inside kernels; memory that outlives the kernel.
#include <new>

#include "check.h"

struct Link {
  int value;
  Link* next;
};

__global__ void build(Link** lists, int count) {
  Link* list = nullptr;
  for (int i = 0; i < count; ++i)
    list = new Link{static_cast<int>(threadIdx.x) + i, list};
  lists[threadIdx.x] = list;
}

__global__ void consume(Link** lists, int* sums) {
  int sum = 0;
  for (Link* link = lists[threadIdx.x]; link;) {
    sum += link->value;
    Link* next = link->next;
    delete link;
    link = next;
  }
  sums[threadIdx.x] = sum;
}

__global__ void scratch(int* output, int count) {
  auto* memory = static_cast<int*>(malloc(count * sizeof(int)));
  if (!memory)
    return;
  for (int i = 0; i < count; ++i)
    memory[i] = i * threadIdx.x;
  output[threadIdx.x] = memory[count - 1];
  free(memory);
}

int main() {
  constexpr int threads = 48, count = 20;
  Buffer<Link*> lists(threads);
  Buffer<int> sums(threads);
  build<<<1, threads>>>(lists.device(), count);
  expectLaunched();
  consume<<<1, threads>>>(lists.device(), sums.device());
  expectLaunched();
  sums.download();
  for (int t = 0; t < threads; ++t)
    check(sums[t] == count * t + count * (count - 1) / 2, "lists made by another kernel");
  scratch<<<1, threads>>>(sums.device(), 100);
  expectLaunched();
  sums.download();
  for (int t = 0; t < threads; ++t)
    check(sums[t] == 99 * t, "scratch memory");
  return finish("device_heap");
}
