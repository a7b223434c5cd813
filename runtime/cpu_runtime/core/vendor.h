// Room cpu_runtime: what differs between the runtimes that are built from these sources. Each
// library defines it once, in device_facts.cpp and errors.cpp of its folder.
#pragma once

#include <cstddef>

namespace mneme::cpu_runtime {

/// What launches and occupancy queries are checked against, as on the GPU the runtime stands for.
struct Vendor {
  const char* library;  ///< name of the vendor's runtime, without a version
  const char* allocate; ///< its functions for device memory, as programs call them
  const char* release;
  int fatbinWrapperMagic;
  int warpSize;
  int maxThreadsPerBlock;
  int maxBlockDim[3];
  int maxGridDim[3];
  int threadsPerMultiprocessor;
  int blocksPerMultiprocessor;
  size_t sharedPerBlock;
  size_t sharedPerBlockOptin;
  size_t sharedPerMultiprocessor;
  size_t reservedSharedPerBlock;
  int maxClusterBlocks;
  bool copiesByEngine; ///< there is a kind of copy that keeps off the multiprocessors
};
extern const Vendor vendor;

/// Whether the program's functions on the edges of graphs have a parameter for data.
bool edgesHaveData() noexcept;

/// The version of the runtime the program is linked with, as the vendor counts.
int runtimeVersion() noexcept;

/// What the vendor says of an error code: "invalid argument"; "unrecognized error code" for numbers
/// without one.
const char* statusSentence(int code) noexcept;

} // namespace mneme::cpu_runtime
