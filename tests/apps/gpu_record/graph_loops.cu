// Graphs whose conditional nodes run what kernels choose: loops, bodies of two and of several, and
// such nodes in bodies. Each case is launched twice.
#include "common.h"

#include <cstdlib>

__global__ void begin(int* numbers, int round) {
  numbers[0] = 0;
  numbers[1] = round;
}

__global__ void advance(int* values, int count, const int* numbers) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    values[i] = values[i] * 3 + numbers[0];
}

__global__ void step(int* values, int count, int factor, int added) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    values[i] = values[i] * factor + added;
}

/// Says whether a loop goes on.
__global__ void again(cudaGraphConditionalHandle loop, int* number, int limit) {
  cudaGraphSetConditional(loop, ++*number < limit);
}

/// Chooses by a remainder. `many` is 2, as a handle may be, too.
__global__ void choose(cudaGraphConditionalHandle which, const int* number, long many, int added) {
  cudaGraphSetConditional(which, static_cast<unsigned>((*number + added) % many));
}

/// The same with the handle in memory.
__global__ void chooseFar(const cudaGraphConditionalHandle* which, const int* number) {
  cudaGraphSetConditional(*which, static_cast<unsigned>(*number % 2));
}

__global__ void waitFor(volatile int* flag) {
  while (*flag == 0)
    ;
}

using namespace graphs;

namespace {

constexpr int kCount = 1000;

struct Bodies {
  cudaGraphNode_t node;
  std::vector<cudaGraph_t> graphs;
};

struct Loop {
  cudaGraphConditionalHandle handle;
  cudaGraphNode_t node;
  cudaGraph_t body;
};

class Case {
public:
  Case() {
    expect(cudaGraphCreate(&graph, 0));
    expect(cudaMalloc(&values, kCount * sizeof(int)));
    expect(cudaMalloc(&numbers, 4 * sizeof(int)));
    expect(cudaMemset(values, 1, kCount * sizeof(int)));
    expect(cudaMemset(numbers, 0, 4 * sizeof(int)));
  }
  ~Case() {
    expect(cudaGraphDestroy(graph));
    expect(cudaFree(values));
    expect(cudaFree(numbers));
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  cudaGraphConditionalHandle handle(cudaGraph_t in, unsigned value = 0) {
    cudaGraphConditionalHandle made;
    expect(cudaGraphConditionalHandleCreate(&made, in, value, cudaGraphCondAssignDefault));
    return made;
  }
  Bodies add(cudaGraph_t in, cudaGraphNode_t after, cudaGraphConditionalHandle handle,
             cudaGraphConditionalNodeType type, unsigned size) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    Bodies made;
    const size_t count = after ? 1 : 0;
#if CUDART_VERSION >= 13000
    expect(cudaGraphAddNode(&made.node, in, &after, nullptr, count, &params));
#else
    expect(cudaGraphAddNode(&made.node, in, &after, count, &params));
#endif
    if (!params.conditional.phGraph_out)
      std::exit(finish("graph_loops"));
    made.graphs.assign(params.conditional.phGraph_out, params.conditional.phGraph_out + size);
    return made;
  }
  Loop loop(cudaGraph_t in, cudaGraphNode_t after = nullptr) {
    const auto goesOn = handle(in, 1);
    const Bodies made = add(in, after, goesOn, cudaGraphCondTypeWhile, 1);
    return {goesOn, made.node, made.graphs[0]};
  }
  template <typename... Arguments>
  cudaGraphNode_t kernel(cudaGraph_t in, cudaGraphNode_t after, int blocks,
                         void (*function)(Arguments...), Arguments... arguments) {
    void* places[] = {&arguments...};
    return addKernel(in,
                     after ? std::vector<cudaGraphNode_t>{after} : std::vector<cudaGraphNode_t>{},
                     reinterpret_cast<void*>(function), places, blocks, blocks > 1 ? 128 : 1);
  }
  cudaGraphNode_t change(cudaGraph_t in, cudaGraphNode_t after, int blocks, int factor) {
    return kernel(in, after, blocks, step, values, kCount, factor, 1);
  }
  void launch(const char* name, int rounds = 2) {
    const cudaStream_t stream = newStream();
    cudaGraphExec_t exec;
    expect(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (int round = 0; round < rounds; ++round) {
      begin<<<1, 1, 0, stream>>>(numbers, round);
      run(exec, stream);
      say(name, download(values, kCount));
      say("numbers", download(numbers, 4));
    }
    expect(cudaGraphExecDestroy(exec));
  }

  cudaGraph_t graph;
  int *values, *numbers;
};

/// A loop of five, with a fill and a copy in its body, and a kernel before and behind.
void loop() {
  Case one;
  const auto [handle, node, body] = one.loop(one.graph, one.change(one.graph, nullptr, 8, 3));
  const cudaGraphNode_t advanced = one.kernel(body, nullptr, 9, advance, one.values, kCount,
                                              static_cast<const int*>(one.numbers));
  cudaMemsetParams fill{};
  fill.dst = one.numbers + 2;
  fill.elementSize = 4;
  fill.width = fill.height = 1;
  fill.value = 7;
  cudaGraphNode_t filled, copied;
  expect(cudaGraphAddMemsetNode(&filled, body, &advanced, 1, &fill));
  expect(cudaGraphAddMemcpyNode1D(&copied, body, &filled, 1, one.numbers + 3, one.numbers,
                                  sizeof(int), cudaMemcpyDeviceToDevice));
  one.kernel(body, copied, 1, again, handle, one.numbers, 5);
  one.change(one.graph, node, 10, 5);
  one.launch("loop");
}

/// One of three bodies, or none, and one of two.
void bodies() {
  Case one;
  const auto which = one.handle(one.graph), either = one.handle(one.graph);
  const int* number = one.numbers + 1;
  const auto several =
      one.add(one.graph, one.kernel(one.graph, nullptr, 1, choose, which, number, 4l, 1), which,
              cudaGraphCondTypeSwitch, 3);
  for (int index = 0; index < 3; ++index)
    one.change(several.graphs[index], nullptr, 8 + index, 3 + index);
  const auto two =
      one.add(one.graph, one.kernel(one.graph, several.node, 1, choose, either, number, 2l, 0),
              either, cudaGraphCondTypeIf, 2);
  one.change(two.graphs[0], nullptr, 11, 11);
  one.change(two.graphs[1], nullptr, 12, 13);
  one.launch("bodies", 4);
}

/// A loop in whose body one node chooses and another loops. Conditions keep their values from one
/// time to the next.
void nested() {
  Case one;
  const auto [outer, node, body] = one.loop(one.graph);
  const auto odd = one.handle(body);
  const int* number = one.numbers;
  const auto chosen = one.add(body, one.kernel(body, nullptr, 1, choose, odd, number, 2l, 0), odd,
                              cudaGraphCondTypeIf, 1);
  one.change(chosen.graphs[0], nullptr, 8, 7);
  const auto [inner, last, deep] = one.loop(body, one.change(body, chosen.node, 9, 3));
  one.kernel(deep, one.change(deep, nullptr, 10, 5), 1, again, inner, one.numbers + 1, 3);
  one.kernel(body, last, 1, again, outer, one.numbers, 4);
  one.launch("nested");
}

/// A loop in whose body a node comes before the kernel that chooses for its next time.
void later() {
  Case one;
  const auto [outer, node, body] = one.loop(one.graph);
  const auto odd = one.handle(body);
  const int* number = one.numbers;
  const auto chosen = one.add(body, nullptr, odd, cudaGraphCondTypeIf, 1);
  one.change(chosen.graphs[0], nullptr, 8, 7);
  const auto chooses =
      one.kernel(body, one.change(body, chosen.node, 9, 3), 1, choose, odd, number, 2l, 0);
  one.kernel(body, chooses, 1, again, outer, one.numbers, 4);
  one.launch("later");
}

/// A body in a loop runs the first time only: it sets its own condition.
void once() {
  Case one;
  const auto [outer, node, body] = one.loop(one.graph);
  const auto first = one.handle(body, 1);
  const auto chosen = one.add(body, nullptr, first, cudaGraphCondTypeIf, 1);
  one.kernel(chosen.graphs[0], nullptr, 1, again, first, one.numbers + 2, 0);
  one.kernel(body, one.change(body, chosen.node, 9, 3), 1, again, outer, one.numbers, 3);
  one.launch("once");
}

/// A loop in a loop chooses for its next time, and nothing in it is recorded.
void inner() {
  Case one;
  const auto [outer, node, body] = one.loop(one.graph);
  const auto [loops, looped, deep] = one.loop(body);
  const auto odd = one.handle(deep);
  const int* number = one.numbers;
  const auto chosen = one.add(deep, nullptr, odd, cudaGraphCondTypeIf, 1);
  one.kernel(chosen.graphs[0], nullptr, 1, again, odd, one.numbers + 2, 0);
  const auto chooses = one.kernel(deep, chosen.node, 1, choose, odd, number, 2l, 1);
  one.kernel(deep, chooses, 1, again, loops, one.numbers + 1, 0);
  const auto repeats =
      one.kernel(body, one.change(body, looped, 9, 3), 1, choose, loops, number, 1000l, 1);
  one.kernel(body, repeats, 1, again, outer, one.numbers, 4);
  one.launch("inner");
}

/// A body is never chosen.
void never() {
  Case one;
  const auto [outer, node, body] = one.loop(one.graph);
  const auto chosen = one.add(body, nullptr, one.handle(body), cudaGraphCondTypeIf, 1);
  one.change(chosen.graphs[0], nullptr, 8, 7);
  one.kernel(body, one.change(body, chosen.node, 9, 3), 1, again, outer, one.numbers, 3);
  one.launch("never", 20);
}

/// The first launch is made while another stream is captured.
void capturing() {
  Case one;
  const auto [handle, node, body] = one.loop(one.graph);
  one.kernel(body, one.change(body, nullptr, 8, 3), 1, again, handle, one.numbers, 3);
  const cudaStream_t stream = newStream(), other = newStream();
  cudaGraphExec_t exec;
  expect(cudaGraphInstantiateWithFlags(&exec, one.graph, 0));
  cudaGraph_t captured;
  expect(cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed));
  expect(cudaMemsetAsync(one.numbers + 3, 0, sizeof(int), other));
  expect(cudaGraphLaunch(exec, stream));
  expect(cudaStreamEndCapture(other, &captured));
  expect(cudaGraphDestroy(captured));
  expect(cudaStreamSynchronize(stream));
  say("capturing", download(one.values, kCount));
  run(exec, stream);
  say("capturing", download(one.values, kCount));
  say("numbers", download(one.numbers, 4));
  expect(cudaGraphExecDestroy(exec));
}

/// The kernel that chooses finds its handle in memory.
void far() {
  Case one;
  const auto handle = one.handle(one.graph);
  cudaGraphConditionalHandle* place = nullptr;
  expect(cudaMalloc(&place, sizeof *place));
  expect(cudaMemcpy(place, &handle, sizeof handle, cudaMemcpyDefault));
  const auto made = one.add(one.graph,
                            one.kernel(one.graph, nullptr, 1, chooseFar,
                                       static_cast<const cudaGraphConditionalHandle*>(place),
                                       static_cast<const int*>(one.numbers + 1)),
                            handle, cudaGraphCondTypeIf, 1);
  one.change(made.graphs[0], nullptr, 8, 17);
  one.launch("far");
  expect(cudaFree(place));
}

/// A graph in the graph, before the node.
void child() {
  Case one;
  cudaGraph_t inner;
  expect(cudaGraphCreate(&inner, 0));
  one.change(inner, nullptr, 9, 3);
  cudaGraphNode_t node;
  expect(cudaGraphAddChildGraphNode(&node, one.graph, nullptr, 0, inner));
  const auto made = one.add(one.graph, node, one.handle(one.graph, 1), cudaGraphCondTypeIf, 1);
  one.change(made.graphs[0], nullptr, 8, 5);
  one.launch("child");
  expect(cudaGraphDestroy(inner));
}

/// A kernel in a loop waits for what the program does after the launch.
struct Waiting : Case {
  Waiting() {
    expect(cudaMallocHost(&flag, sizeof *flag));
    *flag = 0;
    const auto [handle, node, body] = loop(graph);
    const auto waits =
        kernel(body, change(body, nullptr, 8, 3), 1, waitFor, static_cast<volatile int*>(flag));
    kernel(body, change(body, waits, 9, 5), 1, again, handle, numbers, 3);
    last = change(graph, node, 10, 7);
    expect(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    expect(cudaGraphLaunch(exec, stream));
  }
  ~Waiting() {
    expect(cudaGraphExecDestroy(exec));
    expect(cudaFreeHost(flag));
  }
  void letGo() { *static_cast<volatile int*>(flag) = 1; }

  int* flag = nullptr;
  const cudaStream_t stream = newStream();
  cudaGraphNode_t last;
  cudaGraphExec_t exec;
};

/// Another kernel is launched behind.
void waiting() {
  Waiting one;
  one.letGo();
  step<<<11, 128, 0, one.stream>>>(one.values, kCount, 9, 1);
  expect(cudaStreamSynchronize(one.stream));
  say("waiting", download(one.values, kCount));
}

/// Meanwhile the graph is changed, and launched in another stream behind that launch.
void relaunched() {
  Waiting one;
  const cudaStream_t other = newStream();
  int count = kCount, factor = 11, more = 2;
  void* changing[] = {&one.values, &count, &factor, &more};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(step);
  params.gridDim = dim3(10);
  params.blockDim = dim3(128);
  params.kernelParams = changing;
  expect(cudaGraphExecKernelNodeSetParams(one.exec, one.last, &params));
  expect(cudaGraphLaunch(one.exec, other));
  one.letGo();
  expect(cudaStreamSynchronize(one.stream));
  expect(cudaStreamSynchronize(other));
  say("relaunched", download(one.values, kCount));
}

/// A kernel before the node is exchanged for one that chooses, and a kernel in a body for another.
void exchanged() {
  Case one;
  const auto handle = one.handle(one.graph, 1);
  const int* number = one.numbers + 1;
  const cudaGraphNode_t before = one.kernel(one.graph, nullptr, 1, begin, one.numbers, 1);
  const auto made = one.add(one.graph, before, handle, cudaGraphCondTypeIf, 1);
  const cudaGraphNode_t inside = one.change(made.graphs[0], nullptr, 8, 3);
  const cudaStream_t stream = newStream();
  cudaGraphExec_t exec;
  expect(cudaGraphInstantiateWithFlags(&exec, one.graph, 0));
  run(exec, stream);
  say("exchanged", download(one.values, kCount));
  long many = 2;
  int added = 0, count = kCount, factor = 5, more = 2;
  void* choosing[] = {const_cast<cudaGraphConditionalHandle*>(&handle), &number, &many, &added};
  void* changing[] = {&one.values, &count, &factor, &more};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(choose);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = choosing;
  expect(cudaGraphExecKernelNodeSetParams(exec, before, &params));
  params.func = reinterpret_cast<void*>(step);
  params.gridDim = dim3(9);
  params.blockDim = dim3(128);
  params.kernelParams = changing;
  expect(cudaGraphExecKernelNodeSetParams(exec, inside, &params));
  for (int round = 0; round < 3; ++round) {
    begin<<<1, 1, 0, stream>>>(one.numbers, round);
    run(exec, stream);
    say("exchanged", download(one.values, kCount));
  }
  expect(cudaGraphExecDestroy(exec));
}

} // namespace

int main(int argc, char** argv) {
  const auto is = [&](const char* name) { return argc < 2 || std::strcmp(argv[1], name) == 0; };
  if (is("loop"))
    loop();
  if (is("bodies"))
    bodies();
  if (is("nested"))
    nested();
  if (is("later"))
    later();
  if (is("once"))
    once();
  if (is("inner"))
    inner();
  if (is("never"))
    never();
  if (is("capturing"))
    capturing();
  if (is("far"))
    far();
  if (is("exchanged"))
    exchanged();
  if (is("child"))
    child();
  if (is("waiting"))
    waiting();
  if (is("relaunched"))
    relaunched();
  return finish("graph_loops");
}
