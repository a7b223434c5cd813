// Kernels that wait for the host, or for a kernel in another stream: launches return before they
// end, and what comes after them in their streams waits.
#include <atomic>
#include <cuda/atomic>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "check.h"

namespace {

constexpr int kCount = 64;

__global__ void waitFor(volatile int* flag, int wanted, int* out) {
  while (*flag != wanted) {
  }
  __threadfence_system();
  out[threadIdx.x] += wanted;
}

__global__ void raise(int* flag, int value) {
  cuda::atomic_ref<int, cuda::thread_scope_system>(*flag).store(value);
}

__global__ void addTo(int* data, int what) { data[threadIdx.x] += what; }

/// Serves requests until it is told to stop.
__global__ void serve(volatile int* request, volatile int* answer) {
  for (int next = 1;; ++next) {
    int got;
    while ((got = *request) < next && got >= 0)
      __nanosleep(100);
    if (got < 0)
      return;
    __threadfence_system();
    *answer = next * next;
    __threadfence_system();
    answer[1] = next;
  }
}

struct Pinned {
  volatile int* words = nullptr;
  int* device = nullptr;
  Pinned() {
    void* memory = nullptr;
    expect(cudaHostAlloc(&memory, 64 * sizeof(int), cudaHostAllocMapped));
    words = static_cast<int*>(memory);
    for (int i = 0; i < 64; ++i)
      words[i] = 0;
    expect(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device), memory, 0));
  }
  ~Pinned() { expect(cudaFreeHost(const_cast<int*>(words))); }
};

void oneStream() {
  Pinned flag, copied;
  Buffer<int> out(kCount);
  cudaStream_t stream;
  cudaEvent_t before, after;
  expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  expect(cudaEventCreate(&before));
  expect(cudaEventCreate(&after));
  expect(cudaEventRecord(before, stream));
  waitFor<<<1, kCount, 0, stream>>>(flag.device, 5, out.device());
  expect(cudaGetLastError());
  addTo<<<1, kCount, 0, stream>>>(out.device(), 100);
  int what[kCount]; // changes before it can have been read
  for (int& value : what)
    value = 7;
  Buffer<int> uploaded(kCount);
  expect(cudaMemcpyAsync(uploaded.device(), what, sizeof what, cudaMemcpyHostToDevice, stream));
  for (int& value : what)
    value = -1;
  expect(cudaMemcpyAsync(copied.device, out.device(), kCount * sizeof(int), cudaMemcpyDefault,
                         stream));
  expect(cudaEventRecord(after, stream));
  expect(cudaEventQuery(before));
  expect(cudaEventQuery(after), cudaErrorNotReady);
  expect(cudaStreamQuery(stream), cudaErrorNotReady);
  cudaGetLastError();
  check(copied.words[3] == 0, "nothing has been copied yet");
  flag.words[0] = 5;
  expect(cudaEventSynchronize(after));
  check(copied.words[3] == 105, "all was done in order");
  expect(cudaStreamQuery(stream));
  uploaded.download();
  check(uploaded[9] == 7, "a copy took what there was");
  float milliseconds = 0;
  expect(cudaEventElapsedTime(&milliseconds, before, after));
  check(milliseconds > 0, "and took time");
  expect(cudaStreamDestroy(stream));
  expect(cudaEventDestroy(before));
  expect(cudaEventDestroy(after));
}

void twoStreams() {
  Pinned flag;
  Buffer<int> out(kCount);
  cudaStream_t first, second, third;
  cudaEvent_t event;
  for (cudaStream_t* stream : {&first, &second, &third})
    expect(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  expect(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  waitFor<<<1, kCount, 0, first>>>(flag.device, 9, out.device());
  expect(cudaEventRecord(event, first));
  expect(cudaStreamWaitEvent(third, event, 0));
  addTo<<<1, kCount, 0, third>>>(out.device(), 1000);
  waitFor<<<1, kCount, 0, second>>>(flag.device + 1, 1, out.device()); // for the host, too
  flag.words[1] = 1;
  expect(cudaStreamSynchronize(second));
  raise<<<1, 1, 0, second>>>(flag.device, 9);
  expect(cudaDeviceSynchronize());
  out.download();
  check(out[5] == 1010, "one kernel waited for another's");
  expect(cudaEventDestroy(event));
  for (cudaStream_t stream : {first, second, third})
    expect(cudaStreamDestroy(stream));
}

/// An event may go before its time has come.
void destroyedEvent() {
  Pinned flag;
  Buffer<int> out(kCount);
  cudaStream_t first, second;
  cudaEvent_t event;
  for (cudaStream_t* stream : {&first, &second})
    expect(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  expect(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  waitFor<<<1, kCount, 0, first>>>(flag.device, 4, out.device());
  expect(cudaEventRecord(event, first));
  expect(cudaStreamWaitEvent(second, event, 0));
  expect(cudaEventDestroy(event));
  addTo<<<1, kCount, 0, second>>>(out.device(), 30);
  flag.words[0] = 4;
  expect(cudaDeviceSynchronize());
  out.download();
  check(out[7] == 34, "what came after a destroyed event is done");
  for (cudaStream_t stream : {first, second})
    expect(cudaStreamDestroy(stream));
}

void server() {
  Pinned words;
  serve<<<1, 1>>>(words.device, words.device + 16);
  expect(cudaGetLastError());
  for (int request = 1; request <= 200; ++request) {
    words.words[0] = request;
    while (words.words[17] != request) {
    }
    if (words.words[16] != request * request)
      check(false, "the kernel answers");
  }
  words.words[0] = -1;
  expect(cudaDeviceSynchronize());
}

void defaultStream() {
  Pinned flag;
  Buffer<int> out(kCount);
  waitFor<<<1, kCount>>>(flag.device, 3, out.device());
  expect(cudaMemset(out.device(), 0, 4)); // after the kernel
  flag.words[0] = 3;
  out.download(); // waits
  check(out[0] == 0 && out[1] == 3, "copies wait for the default stream");
}

/// A child of fork() has none of the threads: nothing is waited for there.
void forked() {
  Pinned flag;
  Buffer<int> out(kCount);
  waitFor<<<1, kCount>>>(flag.device, 6, out.device());
  expect(cudaGetLastError());
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    cudaDeviceSynchronize();
    _exit(0);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child && status == 0, "a child of fork() ends");
  flag.words[0] = 6;
  expect(cudaDeviceSynchronize());
}

/// Where a launch needs a thread and gets none it fails; nothing waits for it.
void withoutThread() {
  Pinned flag;
  Buffer<int> out(kCount);
  pthread_attr_t usual, huge;
  pthread_getattr_default_np(&usual);
  pthread_attr_init(&huge);
  pthread_attr_setstacksize(&huge, size_t{1} << 46);
  pthread_setattr_default_np(&huge);
  waitFor<<<1, kCount>>>(flag.device, 0, out.device());
  cudaGetLastError();
  pthread_setattr_default_np(&usual);
  expect(cudaDeviceSynchronize());
  waitFor<<<1, kCount>>>(flag.device, 0, out.device());
  expect(cudaGetLastError());
  expect(cudaDeviceSynchronize());
}

/// Threads launch graphs of their own that wait, while others make and destroy graphs.
void graphsOfThreads() {
  constexpr int kThreads = 3, kRounds = 300;
  std::atomic<bool> isOver{false};
  std::thread maker([&] {
    while (!isOver) {
      cudaGraph_t graph;
      cudaGraphNode_t node;
      expect(cudaGraphCreate(&graph, 0));
      for (int i = 0; i < 20; ++i)
        expect(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
      expect(cudaGraphDestroy(graph));
    }
  });
  std::vector<std::thread> launchers;
  for (int thread = 0; thread < kThreads; ++thread)
    launchers.emplace_back([] {
      Pinned flag;
      Buffer<int> out(kCount);
      cudaStream_t stream;
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      waitFor<<<1, kCount, 0, stream>>>(flag.device, 0, out.device());
      for (int i = 0; i < 20; ++i)
        expect(cudaMemsetAsync(out.device(), 0, 4, stream));
      expect(cudaStreamEndCapture(stream, &graph));
      expect(cudaGraphInstantiate(&exec, graph, 0));
      for (int round = 0; round < kRounds; ++round)
        expect(cudaGraphLaunch(exec, stream));
      expect(cudaStreamSynchronize(stream));
      expect(cudaGraphExecDestroy(exec));
      expect(cudaGraphDestroy(graph));
      expect(cudaStreamDestroy(stream));
    });
  for (std::thread& launcher : launchers)
    launcher.join();
  isOver = true;
  maker.join();
}

void graph() {
  Pinned flag;
  Buffer<int> out(kCount);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  waitFor<<<1, kCount, 0, stream>>>(flag.device, 2, out.device());
  addTo<<<1, kCount, 0, stream>>>(out.device(), 10);
  expect(cudaStreamEndCapture(stream, &graph));
  expect(cudaGraphInstantiate(&exec, graph, 0));
  expect(cudaGraphLaunch(exec, stream));
  expect(cudaGraphLaunch(exec, stream));
  expect(cudaStreamQuery(stream), cudaErrorNotReady);
  cudaGetLastError();
  flag.words[0] = 2;
  expect(cudaStreamSynchronize(stream));
  out.download();
  check(out[8] == 24, "a graph waits as well");
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(graph));
  expect(cudaStreamDestroy(stream));
}

} // namespace

int main() {
  oneStream();
  twoStreams();
  destroyedEvent();
  server();
  defaultStream();
  graph();
  forked();
  withoutThread();
  graphsOfThreads();
  return finish("host_waits");
}
