// Streams that are captured into graphs: forks and joins, what may and what may not be done
// meanwhile, and what becomes of a capture that went wrong.
#include <thread>

#include "check.h"

namespace {

constexpr int kCount = 128;

__global__ void step(int* data, int factor, int offset) {
  data[threadIdx.x] = data[threadIdx.x] * factor + offset;
}

void addOne(void* counter) { ++*static_cast<int*>(counter); }

cudaStream_t newStream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream;
  expect(cudaStreamCreateWithFlags(&stream, flags));
  return stream;
}

void runAndDrop(cudaGraph_t graph, int times) {
  cudaGraphExec_t exec;
  expect(cudaGraphInstantiate(&exec, graph, 0));
  expect(cudaGraphDestroy(graph));
  for (int round = 0; round < times; ++round)
    expect(cudaGraphLaunch(exec, nullptr));
  expect(cudaDeviceSynchronize());
  expect(cudaGraphExecDestroy(exec));
}

/// Everything that can become a node, in every mode.
void linear(cudaStreamCaptureMode mode) {
  Buffer<int> data(kCount), other(kCount);
  cudaStream_t stream = newStream();
  int calls = 0;
  cudaStreamCaptureStatus status;
  expect(cudaStreamBeginCapture(stream, mode));
  expect(cudaStreamIsCapturing(stream, &status));
  check(status == cudaStreamCaptureStatusActive, "the stream is being captured");
  step<<<1, kCount, 0, stream>>>(data.device(), 2, 1);
  expect(cudaGetLastError());
  expect(cudaMemcpyAsync(other.device(), data.device(), kCount * sizeof(int),
                         cudaMemcpyDeviceToDevice, stream));
  expect(cudaMemsetAsync(data.device(), 0, 4 * sizeof(int), stream));
  expect(cudaMemcpy2DAsync(other.host(), 32, other.device(), 32, 32, kCount / 8,
                           cudaMemcpyDeviceToHost, stream));
  expect(cudaLaunchHostFunc(stream, addOne, &calls));
  void* taken = nullptr;
  expect(cudaMallocAsync(&taken, 1 << 20, stream));
  expect(cudaMemsetAsync(taken, 7, 1 << 20, stream));
  expect(cudaFreeAsync(taken, stream));
  unsigned long long id = 0;
  cudaGraph_t during, graph;
  const cudaGraphNode_t* dependencies;
  size_t count = 0;
  expect(cudaStreamGetCaptureInfo(stream, &status, &id, &during, &dependencies, nullptr, &count));
  check(id != 0 && count == 1, "what the next node depends on");
  expect(cudaStreamEndCapture(stream, &graph));
  check(graph == during && calls == 0 && data[0] == 0, "nothing has run");
  size_t nodes = 0;
  expect(cudaGraphGetNodes(graph, nullptr, &nodes));
  check(nodes == 8, "every call is a node");
  expect(cudaStreamIsCapturing(stream, &status));
  check(status == cudaStreamCaptureStatusNone, "the capture has ended");
  runAndDrop(graph, 3);
  check(calls == 3 && other[4] == 7 && other[0] == 1, "and runs as often as asked");
  expect(cudaStreamDestroy(stream));
}

void forkAndJoin() {
  Buffer<int> data(kCount), left(kCount), right(kCount);
  cudaStream_t first = newStream(), second = newStream(), third = newStream();
  cudaEvent_t forked, joined, other;
  expect(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
  expect(cudaEventCreate(&joined));
  expect(cudaEventCreate(&other));
  expect(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  step<<<1, kCount, 0, first>>>(data.device(), 1, 1);
  expect(cudaEventRecord(forked, first));
  expect(cudaStreamWaitEvent(second, forked, 0));
  expect(cudaStreamWaitEvent(third, forked, 0));
  cudaStreamCaptureStatus status;
  expect(cudaStreamIsCapturing(third, &status));
  check(status == cudaStreamCaptureStatusActive, "the third stream takes part");
  expect(cudaMemcpyAsync(left.device(), data.device(), kCount * sizeof(int), cudaMemcpyDefault,
                         second));
  expect(cudaMemcpyAsync(right.device(), data.device(), kCount * sizeof(int), cudaMemcpyDefault,
                         third));
  step<<<1, kCount, 0, third>>>(right.device(), 10, 0);
  expect(cudaEventRecord(joined, second));
  expect(cudaEventRecord(other, third));
  expect(cudaStreamWaitEvent(first, joined, 0));
  expect(cudaStreamWaitEvent(first, other, 0));
  step<<<1, kCount, 0, first>>>(data.device(), 2, 0);
  cudaGraph_t graph;
  expect(cudaStreamEndCapture(first, &graph));
  expect(cudaStreamIsCapturing(third, &status));
  check(status == cudaStreamCaptureStatusNone, "and no longer does");
  size_t nodes = 0;
  expect(cudaGraphGetNodes(graph, nullptr, &nodes));
  check(nodes == 5, "all three streams' work is in one graph");
  runAndDrop(graph, 2);
  data.download();
  left.download();
  right.download();
  check(data[9] == 6 && left[9] == 3 && right[9] == 30, "the branches have run between");
  // Not joined.
  expect(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  expect(cudaEventRecord(forked, first));
  expect(cudaStreamWaitEvent(second, forked, 0));
  step<<<1, kCount, 0, second>>>(data.device(), 1, 1);
  expect(cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureUnjoined);
  check(graph == nullptr, "no graph");
  expect(cudaStreamIsCapturing(second, &status));
  check(status == cudaStreamCaptureStatusNone, "both streams are free");
  // Streams may go before the capture ends: what they did is in the graph where it has joined.
  for (const bool joins : {true, false}) {
    cudaStream_t passing = newStream();
    expect(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    expect(cudaEventRecord(forked, first));
    expect(cudaStreamWaitEvent(passing, forked, 0));
    step<<<1, kCount, 0, passing>>>(data.device(), 1, 10);
    expect(cudaEventRecord(joined, passing));
    expect(cudaStreamDestroy(passing));
    if (joins)
      expect(cudaStreamWaitEvent(first, joined, 0));
    expect(cudaStreamEndCapture(first, &graph),
           joins ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
    if (joins)
      runAndDrop(graph, 1);
  }
  data.download();
  check(data[9] == 16, "what a stream did that is gone has run");
  // Ended where it did not begin.
  expect(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  expect(cudaEventRecord(forked, first));
  expect(cudaStreamWaitEvent(second, forked, 0));
  expect(cudaStreamEndCapture(second, &graph), cudaErrorStreamCaptureUnmatched);
  expect(cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureInvalidated);
  // Two captures do not become one.
  expect(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  expect(cudaStreamBeginCapture(second, cudaStreamCaptureModeGlobal));
  expect(cudaEventRecord(forked, first));
  expect(cudaStreamWaitEvent(second, forked, 0), cudaErrorStreamCaptureMerge);
  expect(cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureInvalidated);
  expect(cudaStreamEndCapture(second, &graph), cudaErrorStreamCaptureInvalidated);
  // What was recorded outside is not waited for inside.
  expect(cudaEventRecord(joined, third));
  expect(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  expect(cudaStreamWaitEvent(first, joined, 0), cudaErrorStreamCaptureIsolation);
  expect(cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
  for (cudaEvent_t event : {forked, joined, other})
    expect(cudaEventDestroy(event));
  for (cudaStream_t stream : {first, second, third})
    expect(cudaStreamDestroy(stream));
}

template <typename Action>
void spoils(cudaError_t expected, const Action& action, unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = newStream(flags);
  cudaGraph_t graph;
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  expect(action(stream), expected);
  expect(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  check(graph == nullptr, "no graph");
  cudaGetLastError();
  expect(cudaStreamDestroy(stream));
}

void forbidden() {
  static int host = 0;
  Buffer<int> data(kCount);
  cudaEvent_t event;
  expect(cudaEventCreate(&event));
  spoils(cudaErrorStreamCaptureUnsupported,
         [](cudaStream_t stream) { return cudaStreamSynchronize(stream); });
  spoils(cudaErrorStreamCaptureUnsupported,
         [](cudaStream_t stream) { return cudaStreamQuery(stream); });
  spoils(cudaErrorStreamCaptureUnsupported, [](cudaStream_t) { return cudaDeviceSynchronize(); });
  spoils(cudaErrorStreamCaptureUnsupported, [](cudaStream_t) {
    void* memory = nullptr;
    return cudaMalloc(&memory, 100);
  });
  spoils(cudaErrorCapturedEvent, [&](cudaStream_t stream) {
    expect(cudaEventRecord(event, stream));
    return cudaEventSynchronize(event);
  });
  spoils(
      cudaErrorStreamCaptureImplicit,
      [&](cudaStream_t) {
        return cudaMemcpy(&host, data.device(), sizeof host, cudaMemcpyDeviceToHost);
      },
      cudaStreamDefault);
  spoils(
      cudaErrorStreamCaptureImplicit,
      [&](cudaStream_t) {
        step<<<1, kCount>>>(data.device(), 1, 1);
        return cudaGetLastError();
      },
      cudaStreamDefault);
  cudaGraph_t graph;
  expect(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal),
         cudaErrorStreamCaptureUnsupported);
  cudaStream_t stream = newStream();
  expect(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaError_t elsewhere = cudaSuccess;
  std::thread([&] {
    cudaGraph_t none;
    elsewhere = cudaStreamEndCapture(stream, &none);
  }).join();
  expect(elsewhere, cudaErrorStreamCaptureWrongThread);
  expect(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  cudaGetLastError();
  // In the modes that allow it.
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  void* memory = nullptr;
  expect(cudaMalloc(&memory, 100));
  expect(cudaFree(memory));
  expect(cudaStreamEndCapture(stream, &graph));
  expect(cudaGraphDestroy(graph));
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  expect(cudaThreadExchangeStreamCaptureMode(&mode));
  check(mode == cudaStreamCaptureModeGlobal, "the mode of the thread");
  expect(cudaMalloc(&memory, 100));
  expect(cudaThreadExchangeStreamCaptureMode(&mode));
  expect(cudaStreamEndCapture(stream, &graph));
  expect(cudaGraphDestroy(graph));
  expect(cudaFree(memory));
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  std::thread([&] {
    void* other = nullptr;
    expect(cudaMalloc(&other, 100));
    expect(cudaFree(other));
  }).join();
  expect(cudaStreamEndCapture(stream, &graph));
  expect(cudaGraphDestroy(graph));
  expect(cudaEventDestroy(event));
  expect(cudaStreamDestroy(stream));
}

/// A graph is not launched into a capture; a capture can go on in a graph that is there.
void nested() {
  Buffer<int> data(kCount);
  cudaStream_t stream = newStream();
  cudaGraph_t graph, outer;
  cudaGraphExec_t exec;
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step<<<1, kCount, 0, stream>>>(data.device(), 1, 3);
  expect(cudaStreamEndCapture(stream, &graph));
  expect(cudaGraphInstantiate(&exec, graph, 0));
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  expect(cudaGraphLaunch(exec, stream), cudaErrorStreamCaptureUnsupported);
  expect(cudaStreamEndCapture(stream, &outer), cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
  expect(cudaGraphLaunch(exec, stream));
  expect(cudaStreamSynchronize(stream));
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(graph));
  data.download();
  check(data[1] == 3, "the graph has run");
  // Into a graph that is there already.
  expect(cudaGraphCreate(&graph, 0));
  expect(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                       cudaStreamCaptureModeGlobal));
  step<<<1, kCount, 0, stream>>>(data.device(), 1, 1);
  expect(cudaStreamEndCapture(stream, &outer));
  check(outer == graph, "the same graph");
  runAndDrop(graph, 1);
  data.download();
  check(data[1] == 4, "which has run");
  expect(cudaStreamDestroy(stream));
}

} // namespace

int main() {
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeRelaxed})
    linear(mode);
  forkAndJoin();
  forbidden();
  nested();
  return finish("capture");
}
