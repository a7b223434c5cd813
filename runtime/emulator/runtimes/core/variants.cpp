// Loading of further images of registered kernels; launch.cpp launches them.
#include "runtime/core/abi/cpu_variants.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "runtime/emulator/executor/cpu_description.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_nodes.h"
#include "runtime/emulator/runtimes/core/kernels.h"
#include "runtime/emulator/runtimes/core/launch.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

using Handle = std::shared_ptr<Variant>;

Status load(const void* function, std::span<const std::byte> image, void** variant) {
  const auto kernel = findKernel(function);
  if (!kernel)
    return Status::InvalidDeviceFunction;
  Handle made = loadVariant(kernel, image);
  const Status status = prepare(*made);
  if (status == Status::Success)
    *variant = new Handle(std::move(made));
  return status;
}

} // namespace

MNEME_RUNTIME_API int mneme_cpu_load_variant(const void* function, const void* image,
                                             size_t imageBytes, void** variant, char* message,
                                             size_t messageBytes) {
  const auto tell = [&](const char* text) {
    if (message && messageBytes)
      std::snprintf(message, messageBytes, "%s", text);
  };
  tell("");
  try {
    const Status status =
        load(function, {static_cast<const std::byte*>(image), imageBytes}, variant);
    if (status != Status::Success)
      tell(statusSentence(static_cast<int>(status)));
    return static_cast<int>(status);
  } catch (const std::exception& failure) {
    tell(failure.what());
  } catch (...) {
    tell("unknown exception");
  }
  return static_cast<int>(Status::NoKernelImageForDevice);
}

MNEME_RUNTIME_API int mneme_cpu_is_capturing(void* stream) { return isCapturing(stream); }

MNEME_RUNTIME_API void
mneme_cpu_visit_graph(void* exec, void (*visit)(void* user, const mneme_cpu_graph_kernel* kernel),
                      void* user) {
  // The callback may be slow, so no lock is held while it runs. Arguments do not change once made.
  std::vector<std::pair<const Node*, KernelWork>> kernels;
  {
    const std::lock_guard lock(graphLock());
    visitKernels(exec, [&](Node& node, KernelWork& work) { kernels.emplace_back(&node, work); });
  }
  for (auto& [node, work] : kernels) {
    const mneme_cpu_graph_kernel kernel{.node = const_cast<Node*>(node),
                                        .function = work.function,
                                        .grid = {work.grid.x, work.grid.y, work.grid.z},
                                        .block = {work.block.x, work.block.y, work.block.z},
                                        .args = const_cast<void**>(work.arguments->pointers.data()),
                                        .sharedBytes = work.sharedBytes,
                                        .isTied = hasTiedBlocks(work)};
    visit(user, &kernel);
  }
}

MNEME_RUNTIME_API int mneme_cpu_replace_in_graph(void* exec, const mneme_cpu_graph_kernel* kernel,
                                                 void* variant, const uint32_t grid[3],
                                                 const uint32_t block[3]) {
  bool isReplaced = false;
  try {
    const std::lock_guard lock(graphLock());
    visitKernels(exec, [&](Node& node, KernelWork& work) {
      if (&node != kernel->node)
        return;
      KernelWork tuned = work;
      tuned.variant = *static_cast<Handle*>(variant);
      tuned.grid = {grid[0], grid[1], grid[2]};
      tuned.block = {block[0], block[1], block[2]};
      if (!canRunVariant(tuned))
        return;
      work = std::move(tuned);
      isReplaced = true;
    });
  } catch (...) { // prepare() could not: the kernel itself says why
  }
  return isReplaced;
}

MNEME_RUNTIME_API const char* mneme_cpu_device_name(void) {
  return mneme::device::cpu::cpuDescription().name.c_str();
}

MNEME_RUNTIME_API void mneme_cpu_free_variant(void* variant) {
  delete static_cast<Handle*>(variant);
}
