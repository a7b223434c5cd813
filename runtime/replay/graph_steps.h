// Room replay (internal): what the replay of a graph has open.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/devices/device.h"
#include "runtime/replay/build.h"
#include "runtime/replay/graph_step.h"
#include "runtime/replay/memory_image.h"

namespace mneme::replay {

/// Bytes that something other than a kernel wrote.
struct Patch {
  size_t site = 0;
  uint64_t offset = 0;
  std::vector<std::byte> bytes;
};

/// A recorded launch of a graph.
struct OpenStep {
  explicit OpenStep(const GraphStep& step);

  artifact::KernelRecord record;
  artifact::Instance instance;
  Configuration configuration;
  std::vector<std::vector<std::byte>> modules;
  artifact::Snapshot prologue, epilogue;
  std::vector<std::vector<std::byte>> values = {}; ///< with the addresses of this process
  std::vector<bool> isGiven = {};                  ///< by texture object: whether they name it
  std::unique_ptr<ModuleCache> cache = nullptr;
  std::shared_ptr<device::Module> module = nullptr;
  device::LaunchShape shape = {};
  std::vector<std::string> unrecordedReads = {};
  std::vector<Patch> patches = {}; ///< to be applied before it
};

/// Returns what was written between two kernels. \throws Error{Unsupported} if `next` sees memory
/// that is not in the image
std::vector<Patch> patchesBetween(const OpenStep& before, const OpenStep& next,
                                  const MemoryImage& image);

/// Compiles and loads a kernel. \throws Error as the compiler; Error{Unsupported} if its variables
/// are not where the other kernels have them
void buildStep(OpenStep& step, device::Device& device, MemoryImage& image, const Options& options,
               Result& result);

} // namespace mneme::replay
