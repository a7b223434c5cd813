#include "runtime/jit/backends/cpu/cpu_backend.h"

#include <algorithm>
#include <array>

#include <dlfcn.h>

#include "runtime/core/abi/cpu_variants.h"
#include "runtime/core/base/error.h"
#include "runtime/devices/cuda/application.h"

namespace mneme::jit {
namespace {

struct Runtime {
  decltype(&mneme_cpu_load_variant) load = nullptr;
  decltype(&mneme_cpu_launch_variant) launch = nullptr;
  decltype(&mneme_cpu_free_variant) free = nullptr;
  decltype(&mneme_cpu_device_name) deviceName = nullptr;
  decltype(&mneme_cpu_is_capturing) isCapturing = nullptr;
  decltype(&mneme_cpu_visit_graph) visitGraph = nullptr;
  decltype(&mneme_cpu_replace_in_graph) replaceInGraph = nullptr;

  bool isThere() const noexcept {
    return load && launch && free && deviceName && isCapturing && visitGraph && replaceInGraph;
  }
};

Runtime findRuntime(const std::string& prefix) {
  const auto find = [&]<typename Function>(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, (prefix + name).c_str()));
  };
  Runtime runtime;
  find(runtime.load, "_load_variant");
  find(runtime.launch, "_launch_variant");
  find(runtime.free, "_free_variant");
  find(runtime.deviceName, "_device_name");
  find(runtime.isCapturing, "_is_capturing");
  find(runtime.visitGraph, "_visit_graph");
  find(runtime.replaceInGraph, "_replace_in_graph");
  return runtime;
}

/// The runtimes by mneme_module_entry::vendor; a process may use both.
using Runtimes = std::array<Runtime, 2>;

Runtimes findRuntimes() { return {findRuntime("mneme_cudart"), findRuntime("mneme_hiprt")}; }

class CpuKernel final : public LoadedKernel {
public:
  CpuKernel(const Runtime& runtime, void* variant, bool hasOwnBounds)
      : runtime_(runtime), variant_(variant), hasOwnBounds_(hasOwnBounds) {}
  ~CpuKernel() override { runtime_.free(variant_); }
  CpuKernel(const CpuKernel&) = delete;
  CpuKernel& operator=(const CpuKernel&) = delete;

  void* variant() const noexcept { return variant_; }
  const Runtime& runtime() const noexcept { return runtime_; }
  bool hasOwnBounds() const noexcept { return hasOwnBounds_; }

private:
  Runtime runtime_;
  void* variant_;
  bool hasOwnBounds_;
};

class CpuBackend final : public Backend {
public:
  explicit CpuBackend(const Runtimes& runtimes) : runtimes_(runtimes) {}

  int currentDevice() noexcept override { return 0; }
  std::string target(int) override { return "cpu"; }
  std::string deviceName(int) override {
    return (runtimes_[0].isThere() ? runtimes_[0] : runtimes_[1]).deviceName();
  }
  bool needsPlacedGlobals() const override { return false; }
  bool allowSharedMemory(const mneme_launch& launch) noexcept override {
    return device::cuda::allowSharedMemory(launch.kernel, launch.sharedBytes);
  }
  bool mayReshape(const mneme_launch& launch) const noexcept override {
    const auto* config = static_cast<const device::cuda::RuntimeLaunchConfig*>(launch.config);
    return launch.form == MNEME_LAUNCH_PLAIN ||
           (launch.form == MNEME_LAUNCH_EX && config && !device::cuda::hasTiedBlocks(*config));
  }

  bool isCaptured(const mneme_launch& launch) noexcept override {
    return std::ranges::any_of(runtimes_, [&](const Runtime& runtime) {
      return runtime.isThere() && runtime.isCapturing(launch.stream);
    });
  }
  void visitKernels(const ExecutableGraph& graph,
                    const std::function<void(const GraphKernel&)>& visit) override {
    using Visit = std::function<void(const GraphKernel&)>;
    const auto tell = [](void* user, const mneme_cpu_graph_kernel* kernel) {
      (*static_cast<const Visit*>(user))({.node = kernel->node,
                                          .handle = kernel->function,
                                          .dims = {dim3Of(kernel->grid), dim3Of(kernel->block)},
                                          .sharedBytes = kernel->sharedBytes,
                                          .args = kernel->args,
                                          .mayReshape = !kernel->isTied});
    };
    if (const Runtime* runtime = runtimeOf(graph))
      runtime->visitGraph(graph.exec, tell, const_cast<Visit*>(&visit));
  }
  bool replaceIn(const ExecutableGraph& graph, const GraphKernel& one, LoadedKernel& kernel,
                 const tuned::Dims& dims) noexcept override {
    const Runtime* runtime = runtimeOf(graph);
    const auto& [grid, block] = dims;
    const uint32_t newGrid[] = {grid.x, grid.y, grid.z}, newBlock[] = {block.x, block.y, block.z};
    const mneme_cpu_graph_kernel there{.node = one.node, .function = one.handle};
    return runtime &&
           runtime->replaceInGraph(graph.exec, &there, static_cast<CpuKernel&>(kernel).variant(),
                                   newGrid, newBlock) != 0;
  }

  std::unique_ptr<LoadedKernel> load(const KernelImage& image) override {
    const size_t vendor = image.module ? image.module->vendor : 0;
    if (vendor >= runtimes_.size() || !runtimes_[vendor].isThere())
      throw Error(ErrorCode::BackendUnavailable, "the tuned kernel '" + image.kernel +
                                                     "' needs a runtime on the CPU device; start "
                                                     "the program with 'mneme run'");
    void* variant = nullptr;
    std::array<char, 1024> why{};
    const int status = runtimes_[vendor].load(image.handle, image.image.data(), image.image.size(),
                                              &variant, why.data(), why.size());
    if (status != 0)
      throw Error(ErrorCode::DeviceFailed, "loading the tuned kernel '" + image.kernel +
                                               "' failed: " + why.data() + " (error " +
                                               std::to_string(status) + ")");
    return std::make_unique<CpuKernel>(runtimes_[vendor], variant, image.hasOwnBounds);
  }

  bool launch(LoadedKernel& kernel, const mneme_launch& launch, const tuned::Dims& dims,
              int& status) noexcept override {
    mneme_cpu_variant_launch wanted{};
    wanted.function = launch.kernel;
    wanted.grid[0] = dims.grid.x, wanted.grid[1] = dims.grid.y, wanted.grid[2] = dims.grid.z;
    wanted.block[0] = dims.block.x, wanted.block[1] = dims.block.y, wanted.block[2] = dims.block.z;
    wanted.args = launch.args;
    wanted.sharedBytes = launch.sharedBytes;
    wanted.stream = launch.stream;
    wanted.config = launch.form == MNEME_LAUNCH_EX ? launch.config : nullptr;
    wanted.isCooperative = launch.form == MNEME_LAUNCH_COOPERATIVE;
    const auto& chosen = static_cast<CpuKernel&>(kernel);
    wanted.hasOwnBounds = chosen.hasOwnBounds();
    return chosen.runtime().launch(chosen.variant(), &wanted, &status) != 0;
  }

private:
  static mneme_dim3 dim3Of(const uint32_t (&dims)[3]) noexcept {
    return {dims[0], dims[1], dims[2]};
  }
  const Runtime* runtimeOf(const ExecutableGraph& graph) const noexcept {
    const bool isKnown = graph.vendor < runtimes_.size() && runtimes_[graph.vendor].isThere();
    return isKnown ? &runtimes_[graph.vendor] : nullptr;
  }

  Runtimes runtimes_;
};

} // namespace

std::unique_ptr<Backend> makeCpuBackend() {
  const Runtimes runtimes = findRuntimes();
  const bool isOnCpu = runtimes[0].isThere() || runtimes[1].isThere();
  return isOnCpu ? std::make_unique<CpuBackend>(runtimes) : nullptr;
}

} // namespace mneme::jit
