// Graphs under HIP's names, whose structs and parameters differ from CUDA's.
#include <hip/hip_runtime.h>

#include <cstdio>

static int broken = 0;
#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      ++broken;                                                                                    \
      std::printf("line %d: %s\n", __LINE__, #condition);                                          \
    }                                                                                              \
  } while (0)
#define OK(call) EXPECT((call) == hipSuccess)

constexpr int count = 256;

__global__ void step(int* data, int factor, int offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = data[i] * factor + offset;
}

static void addOne(void* counter) { ++*static_cast<int*>(counter); }

static void byHand(int* data, int* host) {
  hipGraph_t graph, copy;
  hipGraphNode_t fill, kernel, back, call, found;
  int calls = 0, factor = 2, offset = 3;
  OK(hipGraphCreate(&graph, 0));
  hipMemsetParams fillParams{};
  fillParams.dst = data;
  fillParams.elementSize = 4;
  fillParams.value = 7;
  fillParams.width = count;
  fillParams.height = 1;
  OK(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &fillParams));
  void* arguments[] = {&data, &factor, &offset};
  hipKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(step);
  params.gridDim = dim3(2);
  params.blockDim = dim3(count / 2);
  params.kernelParams = arguments;
  OK(hipGraphAddKernelNode(&kernel, graph, &fill, 1, &params));
  OK(hipGraphAddMemcpyNode1D(&back, graph, nullptr, 0, host, data, count * sizeof(int),
                             hipMemcpyDeviceToHost));
  OK(hipGraphAddDependencies(graph, &kernel, &back, 1));
  hipHostNodeParams host1{addOne, &calls};
  OK(hipGraphAddHostNode(&call, graph, &back, 1, &host1));
  size_t nodes = 0, edges = 0;
  OK(hipGraphGetNodes(graph, nullptr, &nodes));
  OK(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  EXPECT(nodes == 4 && edges == 3);
  size_t one = 1;
  OK(hipGraphNodeGetDependencies(back, &found, &one));
  EXPECT(one == 1 && found == kernel);
  hipGraphNodeType type;
  OK(hipGraphNodeGetType(fill, &type));
  EXPECT(type == hipGraphNodeTypeMemset);
  hipGraphExec_t exec;
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int round = 0; round < 100; ++round)
    OK(hipGraphLaunch(exec, nullptr));
  OK(hipDeviceSynchronize());
  EXPECT(calls == 100 && host[77] == 17);
  offset = 40;
  OK(hipGraphExecKernelNodeSetParams(exec, kernel, &params));
  OK(hipGraphLaunch(exec, nullptr));
  OK(hipDeviceSynchronize());
  EXPECT(host[3] == 54);
  hipKernelNodeParams asked{};
  OK(hipGraphKernelNodeGetParams(kernel, &asked));
  EXPECT(asked.gridDim.x == 2 && *static_cast<int*>(asked.kernelParams[2]) == 3);
  OK(hipGraphClone(&copy, graph));
  OK(hipGraphNodeFindInClone(&found, fill, copy));
  fillParams.value = 9;
  OK(hipGraphMemsetNodeSetParams(found, &fillParams));
  hipGraphExecUpdateResult result;
  OK(hipGraphExecUpdate(exec, copy, &found, &result));
  EXPECT(result == hipGraphExecUpdateSuccess);
  OK(hipGraphLaunch(exec, nullptr));
  OK(hipDeviceSynchronize());
  EXPECT(host[3] == 21);
  OK(hipGraphDestroyNode(call));
  EXPECT(hipGraphExecUpdate(exec, graph, &found, &result) == hipErrorGraphExecUpdateFailure);
  OK(hipGraphDestroy(copy));
  OK(hipGraphDestroy(graph));
  OK(hipGraphExecDestroy(exec));
  (void)hipGetLastError();
}

static void captured(int* data, int* host) {
  hipStream_t first, second;
  hipEvent_t forked, joined;
  hipGraph_t graph;
  hipGraphExec_t exec;
  OK(hipStreamCreate(&first));
  OK(hipStreamCreate(&second));
  OK(hipEventCreate(&forked));
  OK(hipEventCreate(&joined));
  OK(hipMemset(data, 0, count * sizeof(int)));
  OK(hipStreamBeginCapture(first, hipStreamCaptureModeGlobal));
  step<<<2, count / 2, 0, first>>>(data, 1, 1);
  OK(hipMemsetD32Async(data, 5, 4, first));
  OK(hipEventRecord(forked, first));
  OK(hipStreamWaitEvent(second, forked, 0));
  OK(hipMemcpyAsync(host, data, count * sizeof(int), hipMemcpyDeviceToHost, second));
  OK(hipEventRecord(joined, second));
  OK(hipStreamWaitEvent(first, joined, 0));
  hipStreamCaptureStatus status;
  unsigned long long id = 0;
  OK(hipStreamGetCaptureInfo(second, &status, &id));
  EXPECT(status == hipStreamCaptureStatusActive && id != 0);
  OK(hipStreamEndCapture(first, &graph));
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int round = 0; round < 3; ++round)
    OK(hipGraphLaunch(exec, first));
  OK(hipStreamSynchronize(first));
  EXPECT(host[0] == 5 && host[10] == 3);
  OK(hipStreamBeginCapture(first, hipStreamCaptureModeGlobal));
  EXPECT(hipStreamSynchronize(first) == hipErrorStreamCaptureUnsupported);
  EXPECT(hipStreamEndCapture(first, &graph) == hipErrorStreamCaptureInvalidated);
  (void)hipGetLastError();
  OK(hipGraphExecDestroy(exec));
  OK(hipEventDestroy(forked));
  OK(hipEventDestroy(joined));
  OK(hipStreamDestroy(first));
  OK(hipStreamDestroy(second));
}

int main() {
  int *data = nullptr, *host = nullptr;
  OK(hipMalloc(reinterpret_cast<void**>(&data), count * sizeof(int)));
  OK(hipHostMalloc(reinterpret_cast<void**>(&host), count * sizeof(int), 0));
  step<<<2, count / 2>>>(data, 0, 0);
  OK(hipDeviceSynchronize());
  byHand(data, host);
  captured(data, host);
  OK(hipFree(data));
  OK(hipHostFree(host));
  std::printf("%d broken promises\n", broken);
}
