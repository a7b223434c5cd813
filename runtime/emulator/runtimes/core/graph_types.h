// Room emulator/runtimes: the API's plain data types for graphs, laid out as documented by the
// vendors (compared with their headers in tests/unit/cpu_runtime). Contains no functions.
#pragma once

#include "runtime/emulator/runtimes/core/types.h"

namespace mneme::cpu_runtime {

enum class NodeType : int {
  Kernel = 0,
  Memcpy = 1,
  Memset = 2,
  Host = 3,
  Graph = 4,
  Empty = 5,
  WaitEvent = 6,
  EventRecord = 7,
  MemAlloc = 10,
  MemFree = 11
};

struct KernelNodeParams {
  const void* func;
  Dim3 gridDim;
  Dim3 blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};

struct MemsetParams {
  void* dst;
  size_t pitch;
  unsigned value;
  unsigned elementSize; ///< 1, 2 or 4
  size_t width;         ///< elements
  size_t height;
};

struct HostNodeParams {
  void (*fn)(void* userData);
  void* userData;
};

struct MemcpyNodeParams {
  int flags;
  int reserved[3];
  Memcpy3DParms copyParams;
};

struct MemPoolProps {
  int allocType;
  int handleTypes;
  MemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

struct MemAllocNodeParams {
  MemPoolProps poolProps;
  const MemAccessDesc* accessDescs;
  size_t accessDescCount;
  size_t bytesize;
  void* dptr; ///< out
};

struct GraphNodeParams {
  NodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    KernelNodeParams kernel;
    MemcpyNodeParams memcpy;
    MemsetParams memset;
    HostNodeParams host;
    void* graph; ///< the first parameter of child graph nodes
    void* event; ///< the only parameter of event nodes
    MemAllocNodeParams alloc;
    void* freed; ///< the only parameter of freeing nodes
  };
  long long reserved2;
};

struct GraphInstantiateParams {
  unsigned long long flags;
  void* uploadStream;
  void* errNode_out;
  int result_out; ///< 0 success, 1 error, 2 invalid structure
};

enum class UpdateResult : int {
  Success = 0,
  Error = 1,
  TopologyChanged = 2,
  NodeTypeChanged = 3,
  FunctionChanged = 4,
  ParametersChanged = 5,
  NotSupported = 6,
};

struct GraphExecUpdateResultInfo {
  UpdateResult result;
  void* errorNode;
  void* errorFromNode;
};

struct GraphEdgeData {
  unsigned char from_port;
  unsigned char to_port;
  unsigned char type;
  unsigned char reserved[5];
};

} // namespace mneme::cpu_runtime
