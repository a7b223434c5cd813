#include "runtime/jit/loaded/present_driver.h"

#include <climits>

#include <dlfcn.h>

#include "runtime/compiler/service/library_identity.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/loaded/vendor_functions.h"
#include "runtime/devices/cuda/application.h"
#include "runtime/devices/cuda/cuda_description.h"
#include "runtime/devices/cuda/graph_nodes.h"
#include "runtime/devices/cuda/module_loader.h"

namespace mneme::jit {
namespace {

using namespace device::cuda;

const auto kLegacyStream = loaded::legacyStream(nullptr);

class GpuDriver final : public LoadedDriver {
public:
  explicit GpuDriver(const Driver& driver) : driver_(driver) {}

  int currentDevice() noexcept override {
    CUdevice device = -1;
    return driver_.cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : -1;
  }
  uint64_t currentContext() noexcept override {
    CUcontext context = nullptr;
    unsigned long long id = 0;
    if (driver_.cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context)
      return 0;
    if (!driver_.cuCtxGetId)
      return 0; // before CUDA 12.0 a context may have the handle of an earlier one
    return driver_.cuCtxGetId(context, &id) == CUDA_SUCCESS ? id : 0;
  }
  std::string target(int device) override { return describeGpu(driver_, device).target; }
  bool isCaptured(void* stream) noexcept override {
    if (stream == kLegacyStream)
      return false; // is never captured
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver_.cuStreamIsCapturing(static_cast<CUstream>(stream), &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
  }
  std::optional<std::vector<embed::DeviceParameter>> parametersOf(const void* kernel) override {
    return device::cuda::parametersOf(driver_, kernel);
  }

  void* load(const std::vector<std::byte>& code, const std::string& kernel) override {
    const RelaxedCapture relaxed(driver_);
    const CUmodule module =
        loadModule(driver_, code.data(), "loading the tuned kernel '" + kernel + "'");
    CUfunction function = nullptr;
    const CUresult status = driver_.cuModuleGetFunction(&function, module, kernel.c_str());
    if (status != CUDA_SUCCESS)
      driver_.cuModuleUnload(module);
    check(status, "finding the tuned kernel '" + kernel + "' in its code");
    return function;
  }
  bool takeAttributes(const void* own, void* kernel, uint64_t sharedBytes,
                      uint32_t sharedCarveout) noexcept override {
    if (sharedBytes > INT_MAX)
      return false;
    const CUfunction from = functionOf(own), to = static_cast<CUfunction>(kernel);
    for (const CUfunction_attribute attribute :
         {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
          CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT}) {
      int wanted = 0, is = 0;
      if (driver_.cuFuncGetAttribute(&wanted, attribute, from) != CUDA_SUCCESS)
        return false;
      if (sharedCarveout != 0 && attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        wanted = device::cuda::toCarveout(sharedCarveout);
      if (driver_.cuFuncGetAttribute(&is, attribute, to) != CUDA_SUCCESS ||
          (wanted != is && driver_.cuFuncSetAttribute(to, attribute, wanted) != CUDA_SUCCESS))
        return false;
      if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
          static_cast<int>(sharedBytes) > wanted)
        return false; // the program's own launch fails, too
    }
    return true;
  }

  void visitKernels(const LoadedGraph& graph,
                    const std::function<bool(const void* function)>& isWanted,
                    const std::function<void(const LoadedGraphKernel&)>& visit) override {
    CUcontext context = nullptr;
    if (driver_.cuCtxGetCurrent(&context) != CUDA_SUCCESS)
      return;
    const auto isOurs = [&](const KernelNode& one) {
      const CUkernelNodeParams& own = one.params;
      return own.ctx == context && (isWanted(own.func) || isWanted(own.kern));
    };
    visitKernelNodes(driver_, static_cast<CUgraphExec>(graph.exec),
                     static_cast<CUgraph>(graph.graph), isOurs, [&](const KernelNode& one) {
                       const CUkernelNodeParams& own = one.params;
                       visit({.node = one.node,
                              .function = own.func,
                              .kernel = own.kern,
                              .dims = {{own.gridDimX, own.gridDimY, own.gridDimZ},
                                       {own.blockDimX, own.blockDimY, own.blockDimZ}},
                              .sharedBytes = own.sharedMemBytes,
                              .args = own.kernelParams,
                              .extra = own.extra,
                              .mayReshape = !one.hasTiedBlocks});
                     });
  }
  bool replaceIn(const LoadedGraph& graph, const LoadedGraphKernel& own, const void* function,
                 const tuned::Dims& dims) noexcept override {
    CUkernelNodeParams params;
    const void* const launched = function ? function : own.function;
    params.func = static_cast<CUfunction>(const_cast<void*>(launched));
    if (!launched)
      params.kern = static_cast<CUkernel>(const_cast<void*>(own.kernel));
    params.gridDimX = dims.grid.x, params.gridDimY = dims.grid.y, params.gridDimZ = dims.grid.z;
    params.blockDimX = dims.block.x, params.blockDimY = dims.block.y;
    params.blockDimZ = dims.block.z;
    params.sharedMemBytes = static_cast<unsigned>(own.sharedBytes);
    params.kernelParams = own.args;
    params.extra = own.args ? nullptr : own.extra;
    return driver_.cuGraphExecKernelNodeSetParams(static_cast<CUgraphExec>(graph.exec),
                                                  static_cast<CUgraphNode>(own.node),
                                                  &params) == CUDA_SUCCESS;
  }

private:
  /// A library's kernel need not be one of the driver's functions.
  CUfunction functionOf(const void* handle) const noexcept {
    const auto function = static_cast<CUfunction>(const_cast<void*>(handle));
    int ignored = 0;
    if (!driver_.cuKernelGetFunction ||
        driver_.cuFuncGetAttribute(&ignored, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS)
      return function;
    CUfunction ofKernel = nullptr;
    const auto kernel = static_cast<CUkernel>(const_cast<void*>(handle));
    const bool isKernel = driver_.cuKernelGetFunction(&ofKernel, kernel) == CUDA_SUCCESS;
    return isKernel ? ofKernel : function;
  }

  const Driver& driver_;
};

/// Its images tell what their kernels take. They are for one processor.
class CpuDriver final : public LoadedDriver {
public:
  int currentDevice() noexcept override { return 0; }
  uint64_t currentContext() noexcept override { return 1; }
  std::string target(int) override { return "cpu"; }
  bool isCaptured(void* stream) noexcept override {
    int status = 0;
    return stream != kLegacyStream &&
           (!isCapturing_ || isCapturing_(stream, &status) != 0 || status != 0);
  }
  std::optional<std::vector<embed::DeviceParameter>> parametersOf(const void*) override {
    return std::nullopt;
  }
  std::string processor() override { return toHex(hash64(compile::hostIdentity())); }
  void* load(const std::vector<std::byte>& code, const std::string& kernel) override {
    void *module = nullptr, *function = nullptr;
    if (!load_ || !getFunction_ || load_(&module, code.data()) != 0 ||
        getFunction_(&function, module, kernel.c_str()) != 0)
      throw Error(ErrorCode::Unsupported, "the CPU device does not load it");
    return function;
  }
  bool takeAttributes(const void*, void*, uint64_t, uint32_t) noexcept override { return true; }
  void visitKernels(const LoadedGraph&, const std::function<bool(const void*)>&,
                    const std::function<void(const LoadedGraphKernel&)>&) override {}
  bool replaceIn(const LoadedGraph&, const LoadedGraphKernel&, const void*,
                 const tuned::Dims&) noexcept override {
    return false;
  }

private:
  int (*load_)(void** module,
               const void* image) = loaded::find<int (*)(void**, const void*)>("cuModuleLoadData");
  int (*getFunction_)(void** function, void* module, const char* name) =
      loaded::find<int (*)(void**, void*, const char*)>("cuModuleGetFunction");
  int (*isCapturing_)(void* stream,
                      int* status) = loaded::find<int (*)(void*, int*)>("cuStreamIsCapturing");
};

} // namespace

std::unique_ptr<LoadedDriver> presentDriver() {
  if (dlsym(RTLD_DEFAULT, "mneme_cudart_device_name"))
    return std::make_unique<CpuDriver>();
  return std::make_unique<GpuDriver>(Driver::get());
}

} // namespace mneme::jit
