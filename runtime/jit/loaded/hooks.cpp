// Room jit/loaded: functions of CUDA's driver by which a program loads code, launches its kernels
// and makes graphs of them. They pass calls on; what is launched in place of a kernel is decided in
// loaded_engine.h.
#include <algorithm>

#include "runtime/core/loaded/vendor_functions.h"
#include "runtime/core/preloaded/preloaded_exported.h"
#include "runtime/devices/cuda/application.h"
#include "runtime/jit/loaded/loaded_start.h"

using mneme::loaded::forward;
using namespace mneme;
using namespace mneme::jit;
using device::cuda::RuntimeLaunchConfig;

namespace {

using Scope = LoadedEngine::Scope;

using JitOptions = LoadedEngine::JitOptions;

int noteModule(int status, void** module, const void* image, Scope scope = Scope::Context,
               const JitOptions& options = {}) noexcept {
  if (LoadedEngine* engine = status == 0 && module && *module ? loadedEngine() : nullptr)
    engine->moduleLoaded(*module, image, scope, options);
  return status;
}

int noteFile(int status, void** module, const char* path, Scope scope = Scope::Context,
             const JitOptions& options = {}) noexcept {
  if (LoadedEngine* engine = status == 0 && module && *module ? loadedEngine() : nullptr)
    engine->moduleLoadedFrom(*module, path, scope, options);
  return status;
}

/// Before the driver gives its handle to another module.
void noteUnload(void* module) noexcept {
  if (LoadedEngine* engine = startedEngine())
    engine->moduleUnloaded(module);
}

int noteKernel(int status, const void** function, void* module, const char* name) noexcept {
  if (LoadedEngine* engine =
          status == 0 && function && *function && name ? startedEngine() : nullptr)
    engine->kernelAskedFor(*function, module, name);
  return status;
}

/// An executable graph was made of `graph`, or updated by it.
int noteGraph(int status, const LoadedGraph& graph) noexcept {
  if (LoadedEngine* engine = status == 0 && graph.exec ? startedEngine() : nullptr)
    engine->graphChanged(graph);
  return status;
}

int noteMade(int status, void** exec, void* graph) noexcept {
  return noteGraph(status, {.exec = exec ? *exec : nullptr, .graph = graph});
}

int noteUpdate(int status, void* exec, void* graph) noexcept {
  return noteGraph(status, {.exec = exec, .graph = graph, .isUpdate = true});
}

std::optional<TunedLaunch> planOf(const DriverLaunch& launch) noexcept {
  LoadedEngine* const engine = startedEngine();
  return engine ? engine->planOf(launch) : std::nullopt;
}

/// If the tuned launch fails, nothing has run: the program's own follows, and reports any error.
template <typename Start> int launchAs(const DriverLaunch& launch, const Start& start) {
  const std::optional<TunedLaunch> plan = planOf(launch);
  const auto own = [&] { return start(const_cast<void*>(launch.function), launch.dims); };
  return plan && start(const_cast<void*>(plan->function), plan->dims) == 0 ? 0 : own();
}

/// `Self` is the driver's function of this name, and `stream` the program's word for it.
template <auto Self> int launchAs(const char* name, const DriverLaunch& launch, void* stream) {
  return launchAs(launch, [&](void* kernel, const tuned::Dims& dims) {
    return forward<Self>(name, kernel, dims.grid.x, dims.grid.y, dims.grid.z, dims.block.x,
                         dims.block.y, dims.block.z, static_cast<unsigned>(launch.sharedBytes),
                         stream, launch.args, const_cast<void**>(launch.extra));
  });
}

template <typename Start>
int launchAs(const RuntimeLaunchConfig& config, void* stream, const void* function, void** args,
             void** extra, const Start& start) {
  const auto dim3 = [](const unsigned (&dims)[3]) { return mneme_dim3{dims[0], dims[1], dims[2]}; };
  const DriverLaunch launch{.function = function,
                            .dims = {dim3(config.grid), dim3(config.block)},
                            .sharedBytes = static_cast<unsigned>(config.sharedBytes),
                            .stream = stream,
                            .args = args,
                            .extra = extra,
                            .mayReshape = !hasTiedBlocks(config)};
  return launchAs(launch, [&](void* kernel, const tuned::Dims& dims) {
    RuntimeLaunchConfig changed = config;
    std::copy_n(&dims.grid.x, 3, changed.grid);
    std::copy_n(&dims.block.x, 3, changed.block);
    return start(&changed, kernel);
  });
}

} // namespace

MNEME_PRELOADED_API int cuModuleLoad(void** module, const char* path) {
  return noteFile(forward<cuModuleLoad>("cuModuleLoad", module, path), module, path);
}

MNEME_PRELOADED_API int cuModuleLoadData(void** module, const void* image) {
  return noteModule(forward<cuModuleLoadData>("cuModuleLoadData", module, image), module, image);
}

MNEME_PRELOADED_API int cuModuleLoadDataEx(void** module, const void* image, unsigned count,
                                           int* options, void** values) {
  const JitOptions given = embed::jitOptionsOf({options, values, count});
  return noteModule(
      forward<cuModuleLoadDataEx>("cuModuleLoadDataEx", module, image, count, options, values),
      module, image, Scope::Context, given);
}

MNEME_PRELOADED_API int cuModuleLoadFatBinary(void** module, const void* image) {
  return noteModule(forward<cuModuleLoadFatBinary>("cuModuleLoadFatBinary", module, image), module,
                    image);
}

MNEME_PRELOADED_API int cuModuleUnload(void* module) {
  noteUnload(module);
  return forward<cuModuleUnload>("cuModuleUnload", module);
}

MNEME_PRELOADED_API int cuModuleGetFunction(const void** function, void* module, const char* name) {
  return noteKernel(forward<cuModuleGetFunction>("cuModuleGetFunction", function, module, name),
                    function, module, name);
}

MNEME_PRELOADED_API int cuLibraryLoadData(void** library, const void* image, int* options,
                                          void** values, unsigned count, int* ofLibrary,
                                          void** libraryValues, unsigned libraryCount) {
  const JitOptions given = embed::jitOptionsOf({options, values, count});
  return noteModule(forward<cuLibraryLoadData>("cuLibraryLoadData", library, image, options, values,
                                               count, ofLibrary, libraryValues, libraryCount),
                    library, image, Scope::AllContexts, given);
}

MNEME_PRELOADED_API int cuLibraryLoadFromFile(void** library, const char* path, int* options,
                                              void** values, unsigned count, int* ofLibrary,
                                              void** libraryValues, unsigned libraryCount) {
  const JitOptions given = embed::jitOptionsOf({options, values, count});
  return noteFile(forward<cuLibraryLoadFromFile>("cuLibraryLoadFromFile", library, path, options,
                                                 values, count, ofLibrary, libraryValues,
                                                 libraryCount),
                  library, path, Scope::AllContexts, given);
}

MNEME_PRELOADED_API int cuLibraryUnload(void* library) {
  noteUnload(library);
  return forward<cuLibraryUnload>("cuLibraryUnload", library);
}

MNEME_PRELOADED_API int cuLibraryGetModule(void** module, void* library) {
  const int status = forward<cuLibraryGetModule>("cuLibraryGetModule", module, library);
  if (LoadedEngine* engine = status == 0 && module && *module ? startedEngine() : nullptr)
    engine->moduleAskedFor(library, *module);
  return status;
}

MNEME_PRELOADED_API int cuLibraryGetKernel(const void** kernel, void* library, const char* name) {
  return noteKernel(forward<cuLibraryGetKernel>("cuLibraryGetKernel", kernel, library, name),
                    kernel, library, name);
}

MNEME_PRELOADED_API int cuKernelGetFunction(const void** function, const void* kernel) {
  const int status = forward<cuKernelGetFunction>("cuKernelGetFunction", function, kernel);
  if (LoadedEngine* engine = status == 0 && function && *function ? startedEngine() : nullptr)
    engine->aliasAskedFor(*function, kernel);
  return status;
}

MNEME_PRELOADED_API int cuLaunchKernel(void* function, unsigned gridX, unsigned gridY,
                                       unsigned gridZ, unsigned blockX, unsigned blockY,
                                       unsigned blockZ, unsigned sharedBytes, void* stream,
                                       void** args, void** extra) {
  return launchAs<cuLaunchKernel>("cuLaunchKernel",
                                  {.function = function,
                                   .dims = {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}},
                                   .sharedBytes = sharedBytes,
                                   .stream = loaded::legacyStream(stream),
                                   .args = args,
                                   .extra = extra},
                                  stream);
}

MNEME_PRELOADED_API int cuLaunchKernel_ptsz(void* function, unsigned gridX, unsigned gridY,
                                            unsigned gridZ, unsigned blockX, unsigned blockY,
                                            unsigned blockZ, unsigned sharedBytes, void* stream,
                                            void** args, void** extra) {
  return launchAs<cuLaunchKernel_ptsz>("cuLaunchKernel_ptsz",
                                       {.function = function,
                                        .dims = {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}},
                                        .sharedBytes = sharedBytes,
                                        .stream = loaded::perThreadStream(stream),
                                        .args = args,
                                        .extra = extra},
                                       stream);
}

MNEME_PRELOADED_API int cuLaunchKernelEx(const RuntimeLaunchConfig* config, void* function,
                                         void** args, void** extra) {
  const auto start = [&](const RuntimeLaunchConfig* launched, void* kernel) {
    return forward<cuLaunchKernelEx>("cuLaunchKernelEx", launched, kernel, args, extra);
  };
  return config && device::cuda::mayReplaceKernel(*config)
             ? launchAs(*config, loaded::legacyStream(config->stream), function, args, extra, start)
             : start(config, function);
}

MNEME_PRELOADED_API int cuLaunchKernelEx_ptsz(const RuntimeLaunchConfig* config, void* function,
                                              void** args, void** extra) {
  const auto start = [&](const RuntimeLaunchConfig* launched, void* kernel) {
    return forward<cuLaunchKernelEx_ptsz>("cuLaunchKernelEx_ptsz", launched, kernel, args, extra);
  };
  return config && device::cuda::mayReplaceKernel(*config)
             ? launchAs(*config, loaded::perThreadStream(config->stream), function, args, extra,
                        start)
             : start(config, function);
}

/// Before CUDA 12 it had five parameters, then the first three.
MNEME_PRELOADED_API int cuGraphInstantiate(void** exec, void* graph, void* third, void* fourth,
                                           size_t fifth) {
  return noteMade(
      forward<cuGraphInstantiate>("cuGraphInstantiate", exec, graph, third, fourth, fifth), exec,
      graph);
}

MNEME_PRELOADED_API int cuGraphInstantiate_v2(void** exec, void* graph, void* third, void* fourth,
                                              size_t fifth) {
  return noteMade(
      forward<cuGraphInstantiate_v2>("cuGraphInstantiate_v2", exec, graph, third, fourth, fifth),
      exec, graph);
}

MNEME_PRELOADED_API int cuGraphInstantiateWithFlags(void** exec, void* graph,
                                                    unsigned long long flags) {
  return noteMade(
      forward<cuGraphInstantiateWithFlags>("cuGraphInstantiateWithFlags", exec, graph, flags), exec,
      graph);
}

MNEME_PRELOADED_API int cuGraphInstantiateWithParams(void** exec, void* graph, void* params) {
  return noteMade(
      forward<cuGraphInstantiateWithParams>("cuGraphInstantiateWithParams", exec, graph, params),
      exec, graph);
}

MNEME_PRELOADED_API int cuGraphInstantiateWithParams_ptsz(void** exec, void* graph, void* params) {
  return noteMade(forward<cuGraphInstantiateWithParams_ptsz>("cuGraphInstantiateWithParams_ptsz",
                                                             exec, graph, params),
                  exec, graph);
}

/// Before CUDA 12.
MNEME_PRELOADED_API int cuGraphExecUpdate(void* exec, void* graph, void* third, void* fourth) {
  return noteUpdate(forward<cuGraphExecUpdate>("cuGraphExecUpdate", exec, graph, third, fourth),
                    exec, graph);
}

MNEME_PRELOADED_API int cuGraphExecUpdate_v2(void* exec, void* graph, void* result) {
  return noteUpdate(forward<cuGraphExecUpdate_v2>("cuGraphExecUpdate_v2", exec, graph, result),
                    exec, graph);
}
