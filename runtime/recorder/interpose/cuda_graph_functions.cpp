#include "runtime/recorder/interpose/cuda_graph_functions.h"

#include <algorithm>
#include <vector>

#include "runtime/recorder/backends/vendor_runtime.h"
#include "runtime/recorder/process_facts.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

using GetNodes = int (*)(void* graph, void** nodes, size_t* count);
using GetType = int (*)(void* node, int* type);
using GetOf = int (*)(void* node, void* params);
using Make = int (*)(void** made, void* graph);
using Create = int (*)(void** graph, unsigned flags);
using FindInClone = int (*)(void** node, void* original, void* copy);
using Destroy = int (*)(void* handle);
using Instantiate = int (*)(void** exec, void* graph, unsigned long long flags);
using Enable = int (*)(void* exec, void* node, unsigned isEnabled);
using Launch = int (*)(void* exec, void* stream);
using GetFlags = int (*)(void* exec, unsigned long long* flags);
using GetError = int (*)();
using GetContext = int (*)(void* stream, void** context);
using GetChild = int (*)(void* node, void** graph);

/// What an edge says beside its ends; before CUDA 12.3 nothing.
struct EdgeData {
  unsigned char bytes[8];
};
using GetEdges = int (*)(void* graph, void** from, void** to, size_t* count);
using GetEdgesAndData = int (*)(void* graph, void** from, void** to, EdgeData* data, size_t* count);

int edgesBy(GetEdgesAndData get, void* graph, void** from, void** to, size_t* count) {
  std::vector<EdgeData> data(from ? *count : 0);
  return get(graph, from, to, from ? data.data() : nullptr, count);
}

/// Since CUDA 13 the runtime's function of this name gives data, too.
int edgesOfRuntime(void* graph, void** from, void** to, size_t* count) {
  static const auto second = find<GetEdgesAndData>("cudaGraphGetEdges_v2");
  static const auto plain = find<GetEdges>("cudaGraphGetEdges");
  static const auto sinceCuda13 = find<GetEdgesAndData>("cudaGraphGetEdges");
  static const auto versionOf = find<int (*)(int*)>("cudaRuntimeGetVersion");
  constexpr int kCuda13 = 13000;
  int version = 0;
  if (second)
    return edgesBy(second, graph, from, to, count);
  if (versionOf && versionOf(&version) == 0 && version >= kCuda13)
    return edgesBy(sinceCuda13, graph, from, to, count);
  return plain(graph, from, to, count);
}

int edgesOfDriver(void* graph, void** from, void** to, size_t* count) {
  static const auto second = find<GetEdgesAndData>("cuGraphGetEdges_v2");
  static const auto plain = find<GetEdges>("cuGraphGetEdges");
  return second ? edgesBy(second, graph, from, to, count) : plain(graph, from, to, count);
}

using AddEmpty = int (*)(void** node, void* graph, void* const* after, size_t count);
using Before = int (*)(void* node, void** nodes, size_t* count);
using BeforeAndData = int (*)(void* node, void** nodes, EdgeData* data, size_t* count);
using Exchange = int (*)(int* mode);
using GetFree = int (*)(size_t* free, size_t* total);
using ReadCapture = int (*)(void* stream, int* status, unsigned long long* id, void** graph,
                            void* const** after, size_t* count);
using CaptureBehind = int (*)(void* stream, void* const* nodes, size_t count, unsigned flags);
using CaptureBehindData = int (*)(void* stream, void* const* nodes, const EdgeData* data,
                                  size_t count, unsigned flags);
constexpr unsigned kInsteadOfOthers = 1; // a flag of the latter

/// As edges: since CUDA 12.3 there is a second function, and since 13 only that.
int dependenciesOf(void* node, void** nodes, size_t* count) {
  static const auto second = find<BeforeAndData>("cudaGraphNodeGetDependencies_v2");
  static const auto ofDriver = find<BeforeAndData>("cuGraphNodeGetDependencies_v2");
  static const auto plain = find<Before>("cuGraphNodeGetDependencies");
  const auto get = findBackend().isOwnRuntime() ? second : ofDriver;
  std::vector<EdgeData> data(nodes ? *count : 0);
  if (get)
    return get(node, nodes, nodes ? data.data() : nullptr, count);
  return plain ? plain(node, nodes, count) : kInitializationError;
}

/// Only the CPU device's runtime has functions whose parameters do not depend on its version. The
/// driver refuses to tell where edges carry data.
int readCapture(void* stream, void** graph, void* const** after, size_t* count) {
  static const auto ofRuntime = find<ReadCapture>("cudaStreamGetCaptureInfo_v2");
  static const auto ofDriver = find<ReadCapture>("cuStreamGetCaptureInfo_v2");
  const auto read = findBackend().isOwnRuntime() ? ofRuntime : ofDriver;
  int status = 0;
  unsigned long long id = 0;
  return read ? read(stream, &status, &id, graph, after, count) : kInitializationError;
}

int captureBehind(void* stream, void* node) {
  static const auto ofRuntime = find<CaptureBehindData>("cudaStreamUpdateCaptureDependencies_v2");
  static const auto ofDriver = find<CaptureBehind>("cuStreamUpdateCaptureDependencies");
  if (findBackend().isOwnRuntime())
    return ofRuntime ? ofRuntime(stream, &node, nullptr, 1, kInsteadOfOthers)
                     : kInitializationError;
  return ofDriver ? ofDriver(stream, &node, 1, kInsteadOfOthers) : kInitializationError;
}

/// The runtime and the driver have the same structure; only the driver's second version has
/// `kernel` and what follows.
struct KernelParams {
  const void* function;
  mneme_dim3 grid, block;
  unsigned sharedBytes;
  void **args, **extra;
  const void *kernel, *context;
  char more[64];
};

/// A kernel of a library has a handle in each context, too, which the program may never have seen.
const void* handleOf(const KernelParams& params) {
  Session* session = params.kernel ? Session::existing() : nullptr;
  const bool isOfLibrary =
      session && session->isActive() && session->findKernel(params.kernel).info;
  return isOfLibrary || !params.function ? params.kernel : params.function;
}

using GetAttribute = int (*)(void* node, int attribute, void* value);

int readKernel(GetOf get, GetAttribute attributeOf, void* node, NodeKernel& kernel) {
  constexpr int kCooperative = 2, kCluster = 4, kDeviceUpdatable = 13;
  KernelParams params{};
  if (const int status = get(node, &params); status != 0)
    return status;
  kernel.function = handleOf(params);
  kernel.grid = params.grid;
  kernel.block = params.block;
  kernel.sharedBytes = params.sharedBytes;
  kernel.args = params.args;
  kernel.extra = params.extra;
  kernel.context = params.context;
  union {
    char bytes[64];
    int isSet;
    mneme_dim3 cluster;
  } value{};
  const auto ask = [&](int attribute) {
    value = {};
    return attributeOf && attributeOf(node, attribute, &value) == 0;
  };
  kernel.isCooperative = ask(kCooperative) && value.isSet != 0;
  kernel.isChangedByKernels = ask(kDeviceUpdatable) && value.isSet != 0;
  if (ask(kCluster))
    kernel.cluster = {std::max(1u, value.cluster.x), std::max(1u, value.cluster.y),
                      std::max(1u, value.cluster.z)};
  return 0;
}

int readKernelOfDriver(void* node, NodeKernel& kernel) {
  static const auto second = find<GetOf>("cuGraphKernelNodeGetParams_v2");
  static const auto get = second ? second : find<GetOf>("cuGraphKernelNodeGetParams");
  static const auto attributeOf = find<GetAttribute>("cuGraphKernelNodeGetAttribute");
  return get ? readKernel(get, attributeOf, node, kernel) : kInitializationError;
}

/// Only the driver tells the context.
int readKernelOfRuntime(void* node, NodeKernel& kernel) {
  static const auto get = find<GetOf>("cudaGraphKernelNodeGetParams");
  static const auto attributeOf = find<GetAttribute>("cudaGraphKernelNodeGetAttribute");
  const int status = get ? readKernel(get, attributeOf, node, kernel) : kInitializationError;
  NodeKernel inContext;
  if (status == 0 && findBackend().deviceCount() > 1 && readKernelOfDriver(node, inContext) == 0)
    kernel.context = inContext.context;
  return status;
}

/// A runtime without kernels is not started for the question.
int readKernelOfStartedRuntime(void* node, NodeKernel& kernel) {
  return hasModules() ? readKernelOfRuntime(node, kernel) : kInitializationError;
}

constexpr const char* kConditionSetters[] = {"cudaGraphSetConditional"};

int currentContext(void** context) {
  const auto current = find<int (*)(void**)>("cuCtxGetCurrent");
  return current ? current(context) : kInitializationError;
}

/// Copies and fills run in the context that is current now, when the graph becomes runnable. No
/// function tells in which one the program's own node runs, and the two differ if the program
/// changed contexts in between; what they copy and fill is the same.
int addLike(const char* read, const char* add, void** node, void* graph, void* const* after,
            size_t count, void* other) {
  using Add = int (*)(void** node, void* graph, void* const* after, size_t count,
                      const void* params, void* context);
  constexpr size_t kMost = 256; // of the structures for copies and fills
  const auto readParams = find<GetOf>(read);
  const auto addNode = find<Add>(add);
  alignas(8) char params[kMost]{};
  void* context = nullptr;
  int status = readParams && addNode ? readParams(other, params) : kInitializationError;
  if (status == 0)
    status = currentContext(&context);
  return status == 0 ? addNode(node, graph, after, count, params, context) : status;
}

int addKernelLike(void** node, void* graph, void* const* after, size_t count, void* other) {
  using Add =
      int (*)(void** node, void* graph, void* const* after, size_t count, const void* params);
  using CopyAttributes = int (*)(void* to, void* from);
  const auto read = find<GetOf>("cuGraphKernelNodeGetParams_v2");
  const auto add = find<Add>("cuGraphAddKernelNode_v2");
  const auto copyAttributes = find<CopyAttributes>("cuGraphKernelNodeCopyAttributes");
  KernelParams params{};
  int status = read && add && copyAttributes ? read(other, &params) : kInitializationError;
  if (status == 0)
    status = add(node, graph, after, count, &params);
  return status == 0 ? copyAttributes(*node, other) : status;
}

int addHostLike(void** node, void* graph, void* const* after, size_t count, void* other) {
  using Add =
      int (*)(void** node, void* graph, void* const* after, size_t count, const void* params);
  const auto read = find<GetOf>("cuGraphHostNodeGetParams");
  const auto add = find<Add>("cuGraphAddHostNode");
  alignas(8) char params[64]{};
  const int status = read && add ? read(other, params) : kInitializationError;
  return status == 0 ? add(node, graph, after, count, params) : status;
}

int addChildLike(void** node, void* graph, void* const* after, size_t count, void* other) {
  using Add = int (*)(void** node, void* graph, void* const* after, size_t count, void* child);
  const auto read = find<GetChild>("cuGraphChildGraphNodeGetGraph");
  const auto add = find<Add>("cuGraphAddChildGraphNode"); // copies it
  void* child = nullptr;
  const int status = read && add ? read(other, &child) : kInitializationError;
  return status == 0 ? add(node, graph, after, count, child) : status;
}

/// The runtime's graphs are the driver's.
int addNodeLike(void** node, void* graph, void* const* after, size_t count, void* other) {
  int type = -1;
  const auto typeOf = find<GetType>("cuGraphNodeGetType");
  if (!typeOf || typeOf(other, &type) != 0)
    return kInitializationError;
  if (type == static_cast<int>(NodeKind::Kernel))
    return addKernelLike(node, graph, after, count, other);
  if (type == static_cast<int>(NodeKind::Host))
    return addHostLike(node, graph, after, count, other);
  if (type == static_cast<int>(NodeKind::Child))
    return addChildLike(node, graph, after, count, other);
  if (type == static_cast<int>(NodeKind::Copy))
    return addLike("cuGraphMemcpyNodeGetParams", "cuGraphAddMemcpyNode", node, graph, after, count,
                   other);
  if (type == static_cast<int>(NodeKind::Fill))
    return addLike("cuGraphMemsetNodeGetParams", "cuGraphAddMemsetNode", node, graph, after, count,
                   other);
  return kInitializationError;
}

int createHandle(uint64_t* handle, void* graph, unsigned value) {
  using CreateHandle =
      int (*)(uint64_t* handle, void* graph, void* context, unsigned value, unsigned flags);
  constexpr unsigned kAssigned = 1;
  const auto make = find<CreateHandle>("cuGraphConditionalHandleCreate");
  void* context = nullptr;
  const int status = make ? currentContext(&context) : kInitializationError;
  return status == 0 ? make(handle, graph, context, value, kAssigned) : status;
}

/// The driver's structure for a node of any type, with what is set here.
struct ConditionalParams {
  int type = static_cast<int>(NodeKind::Conditional);
  int reserved[3]{};
  uint64_t handle;
  int conditionType;
  unsigned size;
  void** bodies = nullptr;
  void* context = nullptr;
  char more[208]{};
};
static_assert(sizeof(ConditionalParams) == 256);

int addConditional(void** node, void* graph, void* const* after, size_t count,
                   const Condition& condition, void** bodies) {
  using Add = int (*)(void** node, void* graph, void* const* after, const EdgeData* data,
                      size_t count, void* params);
  const auto add = find<Add>("cuGraphAddNode_v2");
  ConditionalParams params{.handle = condition.handle,
                           .conditionType = static_cast<int>(condition.type),
                           .size = condition.size};
  int status = add ? currentContext(&params.context) : kInitializationError;
  if (status == 0)
    status = add(node, graph, after, nullptr, count, &params);
  if (status == 0 && !params.bodies)
    return kInitializationError;
  if (status == 0)
    std::copy_n(params.bodies, condition.size, bodies);
  return status;
}

int addFill(void** node, void* graph, unsigned* word, unsigned value) {
  struct Fill {
    void* word;
    size_t pitch;
    unsigned value, elementBytes;
    size_t width, height;
  };
  using Add = int (*)(void** node, void* graph, void* const* after, size_t count,
                      const Fill* params, void* context);
  const auto add = find<Add>("cuGraphAddMemsetNode");
  void* context = nullptr;
  const int status = add ? currentContext(&context) : kInitializationError;
  const Fill fill{word, sizeof *word, value, sizeof *word, 1, 1};
  return status == 0 ? add(node, graph, nullptr, 0, &fill, context) : status;
}

unsigned* makeWords(size_t count) {
  using Make = int (*)(void** pointer, size_t bytes, unsigned flags);
  constexpr unsigned kForAllContexts = 1, kOnDevices = 2;
  const auto make = find<Make>("cuMemHostAlloc");
  void* words = nullptr;
  return make && make(&words, count * sizeof(unsigned), kForAllContexts | kOnDevices) == 0
             ? static_cast<unsigned*>(words)
             : nullptr;
}

int makeStream(void** stream) {
  constexpr unsigned kNonBlocking = 1;
  const auto make = find<int (*)(void** stream, unsigned flags)>("cuStreamCreate");
  return make ? make(stream, kNonBlocking) : kInitializationError;
}

int destroyStream(void* stream) {
  const auto destroy = find<int (*)(void* stream)>("cuStreamDestroy_v2");
  return destroy ? destroy(stream) : kInitializationError;
}

int waitForWord(void* stream, const unsigned* word) {
  using WaitFor = int (*)(void* stream, const unsigned* word, unsigned value, unsigned flags);
  constexpr unsigned kEqual = 1;
  const auto wait = find<WaitFor>("cuStreamWaitValue32_v2");
  return wait ? wait(stream, word, 1, kEqual) : kInitializationError;
}

/// On the CPU device there is one device, and the driver takes no graphs apart.
GraphFunctions ofRuntime() noexcept {
  const bool isOwn = findBackend().isOwnRuntime();
  return {.getNodes = find<GetNodes>("cudaGraphGetNodes"),
          .nodeType = find<GetType>("cudaGraphNodeGetType"),
          .allocParams = find<GetOf>("cudaGraphMemAllocNodeGetParams"),
          .childGraph = find<GetChild>("cudaGraphChildGraphNodeGetGraph"),
          .peekAtLastError = find<GetError>("cudaPeekAtLastError"),
          .getLastError = find<GetError>("cudaGetLastError"),
          .execFlags = find<GetFlags>("cudaGraphExecGetFlags"),
          .readKernelElse = isOwn ? nullptr : &readKernelOfDriver,
          .contextOf = isOwn ? nullptr : find<GetContext>("cuStreamGetCtx"),
          .getEdges = find<GetEdges>("cudaGraphGetEdges") ? &edgesOfRuntime : nullptr,
          .clone = find<Make>("cudaGraphClone"),
          .destroy = find<Destroy>("cudaGraphDestroy"),
          .findInClone = find<FindInClone>("cudaGraphNodeFindInClone"),
          .destroyNode = find<Destroy>("cudaGraphDestroyNode"),
          .instantiate = find<Instantiate>("cudaGraphInstantiateWithFlags"),
          .destroyExec = find<Destroy>("cudaGraphExecDestroy"),
          .setEnabled = find<Enable>("cudaGraphNodeSetEnabled"),
          .launch = find<Launch>("cudaGraphLaunch"),
          .readKernel = &readKernelOfRuntime,
          .create = find<Create>("cudaGraphCreate"),
          .addLike = isOwn ? nullptr : &addNodeLike,
          .conditionSetters = kConditionSetters,
          .createHandle = &createHandle,
          .addConditional = &addConditional,
          .addFill = &addFill,
          .makeWords = &makeWords,
          .waitStream = find<Destroy>("cuStreamSynchronize"),
          .makeStream = &makeStream,
          .destroyStream = &destroyStream,
          .waitForWord = &waitForWord,
          .addEmpty = find<AddEmpty>("cudaGraphAddEmptyNode"),
          .getDependencies = &dependenciesOf,
          .readCapture = &readCapture,
          .captureBehind = &captureBehind,
          .exchangeCaptureMode = find<Exchange>("cudaThreadExchangeStreamCaptureMode"),
          .freeBytes = find<GetFree>("cudaMemGetInfo")};
}

GraphFunctions ofDriver() noexcept {
  return {.getNodes = find<GetNodes>("cuGraphGetNodes"),
          .nodeType = find<GetType>("cuGraphNodeGetType"),
          .allocParams = find<GetOf>("cuGraphMemAllocNodeGetParams"),
          .childGraph = find<GetChild>("cuGraphChildGraphNodeGetGraph"),
          .execFlags = find<GetFlags>("cuGraphExecGetFlags"),
          .readKernelElse = &readKernelOfStartedRuntime,
          .contextOf = find<GetContext>("cuStreamGetCtx"),
          .getEdges = find<GetEdges>("cuGraphGetEdges") ? &edgesOfDriver : nullptr,
          .clone = find<Make>("cuGraphClone"),
          .destroy = find<Destroy>("cuGraphDestroy"),
          .findInClone = find<FindInClone>("cuGraphNodeFindInClone"),
          .destroyNode = find<Destroy>("cuGraphDestroyNode"),
          .instantiate = find<Instantiate>("cuGraphInstantiateWithFlags"),
          .destroyExec = find<Destroy>("cuGraphExecDestroy"),
          .setEnabled = find<Enable>("cuGraphNodeSetEnabled"),
          .launch = find<Launch>("cuGraphLaunch"),
          .readKernel = &readKernelOfDriver,
          .create = find<Create>("cuGraphCreate"),
          .addLike = &addNodeLike,
          .conditionSetters = kConditionSetters,
          .createHandle = &createHandle,
          .addConditional = &addConditional,
          .addFill = &addFill,
          .makeWords = &makeWords,
          .waitStream = find<Destroy>("cuStreamSynchronize"),
          .makeStream = &makeStream,
          .destroyStream = &destroyStream,
          .waitForWord = &waitForWord,
          .addEmpty = find<AddEmpty>("cuGraphAddEmptyNode"),
          .getDependencies = &dependenciesOf,
          .readCapture = &readCapture,
          .captureBehind = &captureBehind,
          .exchangeCaptureMode = find<Exchange>("cuThreadExchangeStreamCaptureMode"),
          .freeBytes = find<GetFree>("cuMemGetInfo_v2")};
}

} // namespace

const GraphFunctions& cudaGraphFunctions() noexcept {
  static const GraphFunctions functions = ofRuntime();
  return functions;
}

/// On the CPU device the runtime is always started, and only it takes graphs apart.
const GraphFunctions& cuGraphFunctions() noexcept {
  static const GraphFunctions functions = findBackend().isOwnRuntime() ? ofRuntime() : ofDriver();
  return functions;
}

} // namespace mneme::record
