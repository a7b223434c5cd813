// Room emulator/runtimes: the differences between the runtimes built from these sources. Each
// library defines them in device_facts.cpp and errors.cpp of its folder.
#pragma once

#include <cstddef>

namespace mneme::cpu_runtime {

/// The limits for launches and occupancy queries, those of the GPU that the runtime imitates.
struct Vendor {
  const char* library;  ///< name of the vendor's runtime, without a version
  const char* allocate; ///< the functions for device memory that programs call
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
  bool copiesByEngine; ///< a kind of copy exists that does not use the multiprocessors
};
extern const Vendor vendor;

/// Returns whether the program's functions on the edges of graphs have a parameter for data.
bool edgesHaveData() noexcept;

/// Returns the version of the runtime that the program is linked with, in the vendor's numbering.
int runtimeVersion() noexcept;

/// Returns the vendor's text for an error code, such as "invalid argument", or "unrecognized error
/// code" for an unknown number.
const char* statusSentence(int code) noexcept;

} // namespace mneme::cpu_runtime
