#include "runtime/jit/backends/cuda/cuda_backend.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include "runtime/core/base/error.h"
#include "runtime/devices/cuda/cuda_description.h"
#include "runtime/devices/cuda/graph_sources.h"
#include "runtime/jit/backends/cuda/cuda_kernel.h"
#include "runtime/jit/backends/cuda/graphs.h"

namespace mneme::jit {
namespace {

using namespace device::cuda;

const mneme_global_entry* entryOf(const mneme_module_entry* module, const std::string& name) {
  for (uint64_t index = 0; module && index < module->globalCount; ++index)
    if (name == module->globals[index].name)
      return &module->globals[index];
  return nullptr;
}

/// Converts the stream of a launch to a handle for the driver's functions, for which null is the
/// legacy default stream. Returns false if it is unknown which default stream is meant.
bool streamOf(const mneme_launch& launch, CUstream& stream) noexcept {
  stream = static_cast<CUstream>(launch.stream);
  if (stream)
    return true;
  const DefaultStream meant = defaultStreamOf(launch.vendorEntry);
  if (meant == DefaultStream::PerThread)
    stream = reinterpret_cast<CUstream>(uintptr_t{2}); // CU_STREAM_PER_THREAD
  return meant != DefaultStream::Unknown;
}

/// A launch in the driver's form. Points into itself: neither copied nor moved.
struct DriverLaunch {
  CUlaunchConfig config;
  CUlaunchAttribute cooperative;
  bool isPossible = false;

  DriverLaunch(const mneme_launch& launch, const tuned::Dims& dims) noexcept {
    if (launch.sharedBytes > INT_MAX || !streamOf(launch, config.hStream))
      return;
    config.gridDimX = dims.grid.x, config.gridDimY = dims.grid.y, config.gridDimZ = dims.grid.z;
    config.blockDimX = dims.block.x, config.blockDimY = dims.block.y;
    config.blockDimZ = dims.block.z;
    config.sharedMemBytes = static_cast<unsigned>(launch.sharedBytes);
    if (launch.form == MNEME_LAUNCH_COOPERATIVE) {
      cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      cooperative.value.cooperative = 1;
      config.attrs = &cooperative;
      config.numAttrs = 1;
    } else if (launch.form == MNEME_LAUNCH_EX) {
      const auto* theirs = static_cast<const RuntimeLaunchConfig*>(launch.config);
      if (!theirs || !mayReplaceKernel(*theirs))
        return;
      config.attrs = theirs->attributes;
      config.numAttrs = theirs->attributes ? theirs->attributeCount : 0;
    }
    isPossible = true;
  }
  DriverLaunch(const DriverLaunch&) = delete;
  DriverLaunch& operator=(const DriverLaunch&) = delete;

  CUresult start(const Driver& driver, CUfunction function, void** args) const noexcept {
    if (config.numAttrs > 0)
      return driver.cuLaunchKernelEx(&config, function, args, nullptr);
    return driver.cuLaunchKernel(function, config.gridDimX, config.gridDimY, config.gridDimZ,
                                 config.blockDimX, config.blockDimY, config.blockDimZ,
                                 config.sharedMemBytes, config.hStream, args, nullptr);
  }
};

class CudaBackend final : public Backend {
public:
  CudaBackend(const Driver& driver, const LoadedRuntime& runtime)
      : driver_(driver), runtime_(runtime) {}

  int currentDevice() noexcept override {
    const auto context = currentContext(driver_, runtime_);
    return context ? context->device : -1;
  }
  std::string target(int device) override { return describeGpu(driver_, device).target; }
  std::string deviceName(int device) override { return gpuName(driver_, device); }
  bool needsPlacedGlobals() const override { return true; }
  bool isHostReadable(const void* pointer) noexcept override {
    unsigned type = 0, isManaged = 0;
    const auto address = reinterpret_cast<CUdeviceptr>(pointer);
    const auto ask = [&](unsigned& answer, CUpointer_attribute what) {
      return driver_.cuPointerGetAttribute(&answer, what, address) == CUDA_SUCCESS;
    };
    // The driver knows nothing of the host's ordinary memory.
    return !ask(type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE) || type != CU_MEMORYTYPE_DEVICE ||
           (ask(isManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED) && isManaged != 0);
  }
  bool copyToHost(void* to, const void* from, size_t sizeBytes) noexcept override {
    // A stream of its own that the program's default stream waits for, and that is never captured
    // unless the program captures just it: then this fails.
    const RelaxedCapture relaxed(driver_);
    const auto perThread = reinterpret_cast<CUstream>(uintptr_t{2}); // CU_STREAM_PER_THREAD
    return driver_.cuMemcpyDtoHAsync(to, reinterpret_cast<CUdeviceptr>(from), sizeBytes,
                                     perThread) == CUDA_SUCCESS &&
           driver_.cuStreamSynchronize(perThread) == CUDA_SUCCESS;
  }
  bool allowSharedMemory(const mneme_launch& launch) noexcept override {
    return device::cuda::allowSharedMemory(launch.kernel, launch.sharedBytes);
  }
  bool mayReshape(const mneme_launch& launch) const noexcept override {
    const auto* config = static_cast<const RuntimeLaunchConfig*>(launch.config);
    return launch.form == MNEME_LAUNCH_PLAIN ||
           (launch.form == MNEME_LAUNCH_EX && config && !hasTiedBlocks(*config));
  }

  bool isCaptured(const mneme_launch& launch) noexcept override {
    CUstream stream = nullptr;
    const auto legacy = reinterpret_cast<CUstream>(uintptr_t{1}); // CU_STREAM_LEGACY
    if (streamOf(launch, stream) && (!stream || stream == legacy))
      return false; // is never captured
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver_.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
  }
  void visitKernels(const ExecutableGraph& graph,
                    const std::function<void(const GraphKernel&)>& visit) override {
    const bool isTaken = sources_.note(graph.exec, graph.graph, graph.isUpdate);
    if (const auto context = currentContext(driver_, runtime_); context && isTaken)
      visitGraphKernels(driver_, runtime_, *context, graph, visit);
  }
  bool replaceIn(const ExecutableGraph& graph, const GraphKernel& one, LoadedKernel& kernel,
                 const tuned::Dims& dims) noexcept override {
    const auto context = currentContext(driver_, runtime_);
    CudaPlacement* placement =
        context ? static_cast<CudaKernel&>(kernel).placementIn(*context) : nullptr;
    return placement && replaceInGraph(driver_, graph, one, *placement, dims);
  }

  std::unique_ptr<LoadedKernel> load(const KernelImage& image) override {
    const auto context = currentContext(driver_, runtime_);
    if (!context)
      throw Error(ErrorCode::DeviceFailed,
                  "kernel '" + image.kernel + "' is launched outside a primary context of a GPU");
    return std::make_unique<CudaKernel>(sourceOf(image), *context);
  }

  bool launch(LoadedKernel& kernel, const mneme_launch& launch, const tuned::Dims& dims,
              int& status) noexcept override {
    const auto context = currentContext(driver_, runtime_);
    CudaPlacement* placement =
        context ? static_cast<CudaKernel&>(kernel).placementIn(*context) : nullptr;
    if (!placement)
      return false;
    const DriverLaunch wanted(launch, dims);
    // A block that the program's kernel does not allow must fail in the program.
    const uint64_t threads = uint64_t{launch.block.x} * launch.block.y * launch.block.z;
    const uint64_t most = placement->maxThreadsPerBlock();
    if (!wanted.isPossible || (most != 0 && threads > most))
      return false;
    const auto allowed = [&] {
      return static_cast<int>(launch.sharedBytes) <= placement->maxDynamicSharedBytes();
    };
    if (!allowed() && !(placement->refreshWishes() && allowed()))
      return false;
    if (!placement->constants().bringUpToDate(wanted.config.hStream))
      return false;
    CUresult result = wanted.start(driver_, placement->function(), launch.args);
    if (result == CUDA_ERROR_INVALID_CLUSTER_SIZE && placement->refreshWishes())
      result = wanted.start(driver_, placement->function(), launch.args);
    // Nothing has run if this failed, and nothing of the program will run if the context is lost:
    // either way the program's own launch says it as the program expects, down to the last error.
    status = result;
    return result == CUDA_SUCCESS;
  }

private:
  CudaSource sourceOf(const KernelImage& image) const {
    CudaSource source{driver_, runtime_, image.kernel, image.handle, {}, {}, image.sharedCarveout};
    source.image.resize(image.image.size() + 1);
    std::memcpy(source.image.data(), image.image.data(), image.image.size());
    for (const embed::KernelGlobal& global : image.globals) {
      const auto isNamed = [&](const CudaVariable& known) { return known.name == global.name; };
      if (std::ranges::any_of(source.variables, isNamed))
        continue; // several units name it
      const mneme_global_entry* entry = entryOf(image.module, global.name);
      const uint32_t flags = entry ? entry->flags : 0;
      source.variables.push_back(
          {global.name, global.sizeBytes, global.isConstant || (flags & MNEME_GLOBAL_CONSTANT) != 0,
           (flags & MNEME_GLOBAL_WRITES_TOLD) != 0, entry ? entry->hostShadow : nullptr});
    }
    return source;
  }

  const Driver& driver_;
  const LoadedRuntime runtime_;
  GraphSources sources_;
};

} // namespace

std::unique_ptr<Backend> makeCudaBackend(const mneme_launch& launch, std::string& why) {
  try {
    const Driver& driver = Driver::get();
    return makeCudaBackend(driver, LoadedRuntime::find(launch.vendorEntry));
  } catch (const Error& failure) {
    why = failure.what();
    return nullptr;
  }
}

std::unique_ptr<Backend> makeCudaBackend(const Driver& driver, const LoadedRuntime& runtime) {
  return std::make_unique<CudaBackend>(driver, runtime);
}

} // namespace mneme::jit
