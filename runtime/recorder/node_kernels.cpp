#include "runtime/recorder/node_kernels.h"

#include "runtime/core/abi/argument_buffer.h"
#include "runtime/core/base/last_error.h"
#include "runtime/recorder/loaded_code.h"

namespace mneme::record {

mneme_launch launchOf(const GraphKernel& kernel, void* stream) {
  const LoadedLaunch launch{.function = kernel.node.function,
                            .grid = kernel.node.grid,
                            .block = kernel.node.block,
                            .sharedBytes = kernel.node.sharedBytes,
                            .stream = stream,
                            .isCooperative = kernel.node.isCooperative};
  return asRecorded(launch, kernel.handle, kernel.args());
}

LaunchTraits traitsOf(const GraphKernel& kernel) {
  return {.isCooperative = kernel.node.isCooperative, .cluster = kernel.node.cluster};
}

void readNode(Session& session, ExecutableGraph& graph, GraphNode& node) {
  if (node.isRead)
    return;
  const GraphFunctions& functions = graph.functions();
  const KeepsLastError keeps(functions.peekAtLastError, functions.getLastError);
  node.kernel = {};
  node.isRead = true;
  node.isNamed = false;
  const char* why = kNotBuilt;
  const void* function = &node;
  for (const auto read : {functions.readKernel, functions.readKernelElse}) {
    GraphKernel kernel;
    if (!read || read(node.isStandIn ? node.original : node.handle, kernel.node) != 0)
      continue;
    auto [handle, info] = session.findKernel(kernel.node.function);
    function = kernel.node.function;
    why = info ? whyUnreadable(*info) : why;
    if (!info || !info->blob)
      continue;
    kernel.handle = handle;
    kernel.info = std::move(info);
    kernel.setsConditions =
        graph.hasConditions() && setsConditions(*kernel.info, functions.conditionSetters);
    if (kernel.node.args ||
        unpackArguments(kernel.node.extra, kernel.info->blob->args, kernel.unpacked))
      node.kernel = std::move(kernel);
    return;
  }
  session.noteKernelOnce(why, function);
}

bool isElsewhere(const GraphFunctions& functions, const NodeKernel& kernel, void* stream) {
  void* context = nullptr;
  return kernel.context && functions.contextOf && functions.contextOf(stream, &context) == 0 &&
         context != kernel.context;
}

} // namespace mneme::record
