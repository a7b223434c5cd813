// The driver without a GPU: graphs, which hold what a test puts there.
#include <algorithm>

#include "tests/unit/device_cuda/fake_driver.h"

using namespace fake;

namespace {

GraphNode* nodeOf(CUgraphNode node) { return reinterpret_cast<GraphNode*>(node); }

} // namespace

FAKE(cuGraphGetNodes, CUgraph graph, CUgraphNode* nodes, size_t* count) {
  auto& all = *reinterpret_cast<std::vector<GraphNode>*>(graph);
  for (size_t i = 0; nodes && i < std::min(*count, all.size()); ++i)
    nodes[i] = reinterpret_cast<CUgraphNode>(&all[i]);
  return *count = all.size(), verdict("cuGraphGetNodes");
}
FAKE(cuGraphNodeGetType, CUgraphNode node, CUgraphNodeType* type) {
  *type = nodeOf(node)->child.empty() ? CU_GRAPH_NODE_TYPE_KERNEL : CU_GRAPH_NODE_TYPE_GRAPH;
  return CUDA_SUCCESS;
}
FAKE(cuGraphChildGraphNodeGetGraph, CUgraphNode node, CUgraph* graph) {
  return *graph = reinterpret_cast<CUgraph>(&nodeOf(node)->child), CUDA_SUCCESS;
}
FAKE(cuGraphKernelNodeGetParams_v2, CUgraphNode node, CUkernelNodeParams* params) {
  return *params = nodeOf(node)->kernel, CUDA_SUCCESS;
}
FAKE(cuGraphKernelNodeGetAttribute, CUgraphNode node, int attribute,
     CUlaunchAttributeValue* value) {
  const GraphNode& asked = *nodeOf(node);
  *value = attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE         ? asked.cooperative
           : attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ? asked.cluster
                                                                : asked.updatable;
  return CUDA_SUCCESS;
}
FAKE(cuGraphExecGetFlags, CUgraphExec, unsigned long long* flags) {
  return *flags = application.graphFlags, CUDA_SUCCESS;
}
FAKE(cuGraphExecKernelNodeSetParams_v2, CUgraphExec, CUgraphNode node,
     const CUkernelNodeParams* params) {
  const CUresult code = verdict("cuGraphExecKernelNodeSetParams_v2");
  if (code == CUDA_SUCCESS)
    application.replaced.emplace_back(node, *params);
  return code;
}
