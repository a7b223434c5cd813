// Pointers everywhere: a list whose nodes point to each other inside a device buffer, a device
// global that points to another device global, and a kernel that follows all of them.
// usage: linked_list [nodes]
#include <vector>

#include "../common.h"

struct Node {
  Node* next;
  int value;
  int sum;
};

__device__ int counters[4];
__device__ int* activeCounter = &counters[2];
__device__ Node* head;

__global__ void link(Node* nodes, int count, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  nodes[i].next = i + 1 < count ? &nodes[(i + 1) * stride % count] : nullptr;
  nodes[i].value = i;
  nodes[i].sum = 0;
  if (i == 0)
    head = nodes;
}

__global__ void walk(int limit) {
  int sum = 0;
  int steps = 0;
  for (Node* node = head; node && steps < limit; node = node->next, ++steps) {
    sum += node->value;
    node->sum = sum;
  }
  *activeCounter += steps;
  counters[0] = sum;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  Node* nodes;
  check(cudaMalloc(&nodes, count * sizeof(Node)), "cudaMalloc nodes");
  link<<<(count + 63) / 64, 64>>>(nodes, count, 1);
  walk<<<1, 1>>>(count);
  walk<<<1, 1>>>(count / 2);
  check(cudaDeviceSynchronize(), "walk");

  int result[4];
  std::vector<Node> host(count);
  check(cudaMemcpyFromSymbol(result, counters, sizeof(result)), "copy counters");
  check(cudaMemcpy(host.data(), nodes, count * sizeof(Node), cudaMemcpyDeviceToHost), "copy nodes");
  const int half = count / 2;
  std::printf("linked_list: %d nodes, %d steps, half sum %d\n", count, result[2], result[0]);
  return report(result[2] == count + half && result[0] == half * (half - 1) / 2 &&
                host[count - 1].sum == count * (count - 1) / 2);
}
