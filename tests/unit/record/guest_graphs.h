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

/// A function of the host's, which runs in a thread of its own.
struct GuestHostNode {
  void (*function)(void* data) = nullptr;
  void* data = nullptr;
};

extern "C" {
int cudaGraphCreate(void** graph, unsigned flags);
int cudaGraphAddKernelNode(void** node, void* graph, void* const* after, size_t count,
                           const GuestNode* params);
int cudaGraphAddHostNode(void** node, void* graph, void* const* after, size_t count,
                         const GuestHostNode* params);
int cudaThreadExchangeStreamCaptureMode(int* mode);
int cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags);
int cudaGraphLaunch(void* exec, void* stream);
int cudaGraphExecDestroy(void* exec);
int cudaGraphDestroy(void* graph);
}
