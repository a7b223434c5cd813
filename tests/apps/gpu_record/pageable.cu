// Kernels that use memory of the host as the system gave it: of malloc, variables, the stack,
// mappings. Other threads write to what lies beside it all the time.
//   pageable          prints what the kernels left
//   pageable asked    prints whether the device says that it can
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

struct Node {
  Node* next;
  double* values;
  int count;
};

struct Body { // as a lambda that captures pointers
  const double* from;
  double* to;
  double factor;
};

struct Captured { // as a lambda that captures the variables of its function
  double** values;
  const int* count;
};

static double inBss[300];
static double inData[40] = {1, 2, 3};

__global__ void small(double* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    x[i] += 1;
}
__global__ void large(const double* from, double* to, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    to[i] = 2 * from[i];
}
__global__ void stack(double* x, double* sum) {
  *sum = 0;
  for (int i = 0; i < 20; ++i)
    *sum += x[i];
}
__global__ void variables(double* bss, const double* data) { bss[threadIdx.x] += data[threadIdx.x]; }
__global__ void mapped(double* pages, const double* file) { pages[threadIdx.x] = file[threadIdx.x]; }
__global__ void linked(Node** first, double* sum) {
  *sum = 0;
  for (Node* node = *first; node; node = node->next)
    for (int i = 0; i < node->count; ++i) {
      node->values[i] += 0.5;
      *sum += node->values[i];
    }
}
__global__ void functor(Body body) { body.to[threadIdx.x] = body.factor * body.from[threadIdx.x]; }

__global__ void captured(Captured by) {
  for (int i = threadIdx.x; i < *by.count; i += blockDim.x)
    (*by.values)[i] -= 2;
}

static void check(const char* what, cudaError_t status) {
  if (status == cudaSuccess)
    return;
  std::printf("%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

static void done(const char* what, double value) {
  check(what, cudaDeviceSynchronize());
  std::printf("%s: %g\n", what, value);
}

static double sumOf(const double* values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += values[i];
  return sum;
}

/// Blocks that a thread goes on to write to, between those that kernels use.
struct Busy {
  Busy() {
    for (int i = 0; i < 100; ++i) {
      others.push_back(std::make_unique<volatile int[]>(10));
      used.push_back(static_cast<double*>(std::calloc(21, sizeof(double))));
    }
    thread = std::thread([this] {
      while (!isOver) {
        for (auto& block : others)
          block[3] = block[3] + 1;
        usleep(100);
      }
    });
  }
  ~Busy() {
    isOver = true;
    thread.join();
    for (double* block : used)
      std::free(block);
  }
  std::atomic<bool> isOver{false};
  std::vector<std::unique_ptr<volatile int[]>> others;
  std::vector<double*> used;
  std::thread thread;
};

// Not in a frame whose memory is recorded: the thread's blocks lie beside that of kernels only.
static Busy* busy;

static void useMappings() {
  char name[] = "/tmp/pageable-XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  if (ftruncate(file, 8192) != 0)
    return;
  const auto map = [](size_t bytes, int flags, int from) {
    return static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, from, 0));
  };
  char* const anonymous = map(3 * 8192, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  mprotect(anonymous, 8192, PROT_READ); // other memory would lie right beside
  mprotect(anonymous + 2 * 8192, 8192, PROT_READ);
  auto* const pages = reinterpret_cast<double*>(anonymous + 8192);
  auto* const content = reinterpret_cast<double*>(map(8192, MAP_SHARED, file));
  for (int i = 0; i < 100; ++i)
    content[i] = i;
  mapped<<<1, 100>>>(pages, content);
  done("mapped", sumOf(pages, 100));
}

__attribute__((noinline)) static void useStack() {
  double onStack[20], sum = 0;
  for (int i = 0; i < 20; ++i)
    onStack[i] = i;
  stack<<<1, 1>>>(onStack, &sum);
  check("stack", cudaDeviceSynchronize());
  done("stack", sum);
}

static void useLinked() {
  std::vector<Node> nodes(51); // malloc has no room behind it that others used
  for (int i = 0; i < 51; ++i)
    nodes[i] = {i < 50 ? &nodes[i + 1] : nullptr, busy->used[i] + 2, 18};
  Node** onDevice = nullptr;
  Node* const first = &nodes[0];
  double *sum = nullptr, result = 0;
  check("memory", cudaMalloc(&onDevice, 4096));
  check("memory", cudaMalloc(&sum, sizeof *sum));
  check("copy", cudaMemcpy(onDevice, &first, sizeof first, cudaMemcpyHostToDevice));
  linked<<<1, 1>>>(onDevice, sum);
  check("copy", cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
  done("linked", result);
  check("memory", cudaFree(onDevice));
  check("memory", cudaFree(sum));
}

__attribute__((noinline)) static void useCaptured() {
  double* values = busy->used[33];
  int count = 15;
  captured<<<1, 4>>>(Captured{&values, &count});
  done("captured", sumOf(values, count));
}

int main(int argc, char**) {
  int isPossible = 0;
  cudaDeviceGetAttribute(&isPossible, cudaDevAttrPageableMemoryAccess, 0);
  if (argc > 1)
    return std::printf("%d\n", isPossible), 0;
  busy = new Busy;
  small<<<1, 32>>>(busy->used[7], 20);
  done("small", sumOf(busy->used[7], 20));

  constexpr int n = 1 << 17;
  std::vector<double> from(n), to(n);
  for (int i = 0; i < n; ++i)
    from[i] = i;
  large<<<64, 128>>>(from.data(), to.data(), n);
  done("large", sumOf(to.data(), n));

  useStack();
  variables<<<1, 40>>>(inBss + 100, inData);
  done("variables", sumOf(inBss, 300));
  useMappings();
  useLinked();
  useCaptured();

  functor<<<1, 20>>>(Body{busy->used[7], busy->used[90], 3});
  done("functor", sumOf(busy->used[90], 20));
  delete busy;
}
