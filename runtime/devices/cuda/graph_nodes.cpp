#include "runtime/devices/cuda/graph_nodes.h"

#include <algorithm>
#include <vector>

namespace mneme::device::cuda {
namespace {

bool isThere(const Driver& driver) noexcept {
  return driver.cuGraphGetNodes && driver.cuGraphNodeGetType &&
         driver.cuGraphChildGraphNodeGetGraph && driver.cuGraphKernelNodeGetParams &&
         driver.cuGraphKernelNodeGetAttribute && driver.cuGraphExecGetFlags &&
         driver.cuGraphExecKernelNodeSetParams;
}

CUgraphNodeType typeOf(const Driver& driver, CUgraphNode node) noexcept {
  auto type = static_cast<CUgraphNodeType>(-1);
  return driver.cuGraphNodeGetType(node, &type) == CUDA_SUCCESS ? type
                                                                : static_cast<CUgraphNodeType>(-1);
}

/// Kernel nodes of a graph and of the graphs in it.
void addKernelNodes(const Driver& driver, CUgraph graph, std::vector<CUgraphNode>& kernels) {
  size_t count = 0;
  if (driver.cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS || count == 0)
    return;
  std::vector<CUgraphNode> nodes(count);
  if (driver.cuGraphGetNodes(graph, nodes.data(), &count) != CUDA_SUCCESS)
    return;
  nodes.resize(std::min(count, nodes.size()));
  for (const CUgraphNode node : nodes) {
    const CUgraphNodeType type = typeOf(driver, node);
    CUgraph child = nullptr;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
      kernels.push_back(node);
    else if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
             driver.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS)
      addKernelNodes(driver, child, kernels);
  }
}

/// False as well if the node may be updated by the device, which has a handle to its kernel then.
bool mayReplace(const Driver& driver, CUgraphNode node) noexcept {
  CUlaunchAttributeValue value{};
  const CUresult asked = driver.cuGraphKernelNodeGetAttribute(
      node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value);
  int isUpdatable = 0; // the first field
  std::copy_n(value.bytes, sizeof isUpdatable, reinterpret_cast<char*>(&isUpdatable));
  return asked != CUDA_SUCCESS || !isUpdatable;
}

/// Returns whether the node's blocks depend on each other, or may do so.
bool hasTiedBlocks(const Driver& driver, CUgraphNode node) noexcept {
  CUlaunchAttributeValue cooperative{}, cluster{};
  if (driver.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &cooperative) !=
          CUDA_SUCCESS ||
      driver.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &cluster) !=
          CUDA_SUCCESS)
    return true;
  const auto [x, y, z] = cluster.clusterDim;
  return cooperative.cooperative != 0 || uint64_t{x} * y * z > 1;
}

} // namespace

void visitKernelNodes(const Driver& driver, CUgraphExec exec, CUgraph graph,
                      const std::function<bool(const KernelNode&)>& isWanted,
                      const std::function<void(const KernelNode&)>& visit) {
  unsigned long long flags = 0;
  if (!isThere(driver) || driver.cuGraphExecGetFlags(exec, &flags) != CUDA_SUCCESS ||
      flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
    return;
  std::vector<CUgraphNode> kernels;
  addKernelNodes(driver, graph, kernels);
  for (const CUgraphNode node : kernels) {
    KernelNode one{.node = node};
    if (driver.cuGraphKernelNodeGetParams(node, &one.params) != CUDA_SUCCESS || !isWanted(one) ||
        !mayReplace(driver, node))
      continue;
    one.hasTiedBlocks = hasTiedBlocks(driver, node);
    visit(one);
  }
}

} // namespace mneme::device::cuda
