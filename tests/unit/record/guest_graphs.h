// A kernel in a graph, as the test's runtime takes it.
#pragma once

#include <cstddef>

#include "runtime/core/abi/mneme_rt.h"

struct GuestNode {
  const void* function;
  mneme_dim3 grid, block;
  unsigned sharedBytes;
  void **args, **extra;
};

extern "C" {
int cudaGraphCreate(void** graph, unsigned flags);
int cudaGraphAddKernelNode(void** node, void* graph, void* const* after, size_t count,
                           const GuestNode* params);
int cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags);
int cudaGraphLaunch(void* exec, void* stream);
int cudaGraphExecDestroy(void* exec);
int cudaGraphDestroy(void* graph);
}
