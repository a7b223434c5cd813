// Memory that kernels allocate: freed by the kernel itself, or left to later ones, which read it,
// add to it and free it.
//
//   device_heap own|left|sized|other|waits
#include "common.h"

namespace {

constexpr int kThreads = 256;

struct Node {
  Node* next;
  int value;
};

} // namespace

/// Leaves nothing.
__global__ void usesOwn(int* out) {
  int* own = new int[8 + threadIdx.x % 5];
  for (int at = 0; at < 8; ++at)
    own[at] = threadIdx.x + at;
  out[threadIdx.x] = own[7] + own[threadIdx.x % 8];
  delete[] own;
}

/// One thread, so that each run allocates the same blocks.
__global__ void buildsAlone(Node** heads, const int* counts) {
  for (int i = 0; i < kThreads; ++i) {
    heads[i] = nullptr;
    for (int k = 0; k < counts[i]; ++k)
      heads[i] = new Node{heads[i], i * 100 + k};
  }
}

/// Allocates and frees nothing.
__global__ void sums(Node* const* heads, int* out) {
  int sum = 0;
  for (const Node* at = heads[threadIdx.x]; at; at = at->next)
    sum += at->value;
  out[threadIdx.x] = sum;
}
__global__ void doubles(Node* const* heads) {
  for (Node* at = heads[threadIdx.x]; at; at = at->next)
    at->value *= 2;
}

/// Frees the first block of each list and puts two in its place.
__global__ void grows(Node** heads, int* out) {
  Node* const first = heads[threadIdx.x];
  Node* const rest = first ? first->next : nullptr;
  delete first;
  heads[threadIdx.x] = new Node{new Node{rest, 7}, int(threadIdx.x)};
  out[threadIdx.x] = heads[threadIdx.x]->value + heads[threadIdx.x]->next->value;
}

__global__ void frees(Node** heads, int* out) {
  int count = 0;
  for (Node* at = heads[threadIdx.x]; at; ++count) {
    Node* const next = at->next;
    delete at;
    at = next;
  }
  out[threadIdx.x] = count;
}

__global__ void fills(const volatile int* shallEnd) {
  while (*shallEnd == 0)
    ;
}

/// The first kernel that allocates, behind one that fills the device and waits for the host.
static void waitForHost(int* out) {
  int *shallEnd = nullptr, device = 0, multiprocessors = 0, blocks = 0;
  cudaFuncAttributes ignored;
  cudaStream_t first, second;
  expect(cudaFuncGetAttributes(&ignored, fills)); // both are loaded before one of them goes on
  expect(cudaFuncGetAttributes(&ignored, usesOwn));
  expect(cudaMallocHost(&shallEnd, sizeof(int)));
  expect(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  expect(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  expect(cudaGetDevice(&device));
  expect(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  expect(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fills, 1024, 0));
  *shallEnd = 0;
  fills<<<multiprocessors * blocks, 1024, 0, first>>>(shallEnd);
  usesOwn<<<1, kThreads, 0, second>>>(out);
  *const_cast<volatile int*>(shallEnd) = 1;
  expect(cudaDeviceSynchronize());
}

static void useLists(int* out) {
  Node** heads = nullptr;
  int* counts = nullptr;
  std::vector<int> lengths(kThreads);
  for (int i = 0; i < kThreads; ++i)
    lengths[i] = i % 7;
  expect(cudaMalloc(&heads, kThreads * sizeof(Node*)));
  expect(cudaMalloc(&counts, kThreads * sizeof(int)));
  expect(cudaMemcpy(counts, lengths.data(), kThreads * sizeof(int), cudaMemcpyHostToDevice));
  buildsAlone<<<1, 1>>>(heads, counts);
  sums<<<1, kThreads>>>(heads, out);
  say("sums", download(out, kThreads));
  doubles<<<1, kThreads>>>(heads);
  grows<<<1, kThreads>>>(heads, out);
  say("grown", download(out, kThreads));
  sums<<<1, kThreads>>>(heads, out);
  say("sums", download(out, kThreads));
  frees<<<1, kThreads>>>(heads, out);
  say("freed", download(out, kThreads));
}

int main(int, char** argv) {
  const auto is = [&](const char* mode) { return std::strcmp(argv[1], mode) == 0; };
  int *out = nullptr, *other = nullptr;
  if (is("sized"))
    expect(cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{48} << 20));
  expect(cudaMalloc(&out, kThreads * sizeof(int)));
  expect(cudaMemset(out, 0, kThreads * sizeof(int)));
  if (is("other")) { // memory and kernels before the heap is there
    expect(cudaMalloc(&other, size_t{1} << 30));
    scale<<<4, 64>>>(out, out, kThreads, 3);
    say("scaled", download(out, kThreads));
  }
  if (is("waits"))
    waitForHost(out);
  else
    usesOwn<<<1, kThreads>>>(out);
  say("own", download(out, kThreads));
  if (!is("own"))
    useLists(out);
  return failedChecks;
}
