#include "runtime/jit/backends/cuda/cuda_kernel.h"

#include <utility>

#include "runtime/core/abi/variable_names.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/last_error.h"
#include "runtime/devices/cuda/module_loader.h"

namespace mneme::jit {
namespace {

using namespace device::cuda;

struct Found {
  CUdeviceptr address = 0;
  size_t sizeBytes = 0;
};

Found findIn(const Driver& driver, CUmodule module, const std::string& name) {
  Found found;
  if (!module || driver.cuModuleGetGlobal(&found.address, &found.sizeBytes, module, name.c_str()) !=
                     CUDA_SUCCESS)
    return {};
  return found;
}

/// Writes to the device past every stream of the program: the legacy stream must not be touched
/// while others are captured.
void write(const Driver& driver, CUdeviceptr place, CUdeviceptr value) {
  CUstream stream = nullptr;
  check(driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "making a stream");
  CUresult result = driver.cuMemcpyHtoDAsync(place, &value, sizeof value, stream);
  if (result == CUDA_SUCCESS)
    result = driver.cuStreamSynchronize(stream);
  driver.cuStreamDestroy(stream);
  check(result, "telling the kernel where a device variable is");
}

bool isSame(const LaunchWishes& left, const LaunchWishes& right) {
  return left.maxDynamicSharedBytes == right.maxDynamicSharedBytes &&
         left.sharedCarveout == right.sharedCarveout && left.clusterPolicy == right.clusterPolicy &&
         left.hasLargeClusters == right.hasLargeClusters;
}

/// What a variant says counts for it, whatever the program has set.
void setCarveout(LaunchWishes& wishes, const CudaSource& source) {
  if (source.sharedCarveout != 0)
    wishes.sharedCarveout = toCarveout(source.sharedCarveout);
}

} // namespace

CudaModuleHandle::CudaModuleHandle(const CudaSource& source, const CudaContext& context)
    : source_(source), contextId_(context.id),
      module_(loadModule(source.driver, source.image.data(),
                         "loading the tuned kernel '" + source.kernel + "'")) {}

CudaModuleHandle::~CudaModuleHandle() {
  const auto context = currentContext(source_.driver, source_.runtime);
  if (!context || context->id != contextId_)
    return; // gone with its context, or not ours to touch from here
  const RelaxedCapture relaxed(source_.driver);
  source_.driver.cuModuleUnload(module_);
}

CudaPlacement::CudaPlacement(const CudaSource& source, const CudaContext& context)
    : source_(source), module_(source, context), constants_(source.driver) {
  const Driver& driver = source.driver;
  check(driver.cuModuleGetFunction(&function_, module_.raw(), source.kernel.c_str()),
        "finding the tuned kernel '" + source.kernel + "' in its image");
  if (!source.variables.empty()) {
    const KeepsLastError keeps = source.runtime.keepLastError();
    const CUmodule theirs = moduleOf(driver, source.runtime.lookup, source.handle);
    for (const CudaVariable& variable : source.variables)
      bind(variable, theirs);
  }
  LaunchWishes wishes;
  if (!source.runtime.askWishes(source.handle, wishes))
    wishes = {};
  setCarveout(wishes, source);
  maxThreadsPerBlock_ = static_cast<uint64_t>(wishes.maxThreadsPerBlock);
  applyWishes(wishes);
}

void CudaPlacement::bind(const CudaVariable& variable, CUmodule theirs) {
  const Driver& driver = source_.driver;
  const Found place = findIn(driver, module_.raw(), placeVariable(variable.name));
  const Found ours = findIn(driver, module_.raw(), variable.name);
  if (!place.address && !ours.address)
    return; // the kernel does not need it
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::DeviceFailed, "device variable '" + variable.name + "' of kernel '" +
                                             source_.kernel + "' " + why);
  };
  if (!place.address && !variable.isConstant)
    refuse("is in the tuned image, where the program does not see it");
  Found program = findIn(driver, theirs, variable.name);
  if (const CUdeviceptr address = source_.runtime.addressOf(variable.shadow))
    program = {address, program.sizeBytes ? program.sizeBytes : size_t{variable.sizeBytes}};
  if (!program.address)
    refuse("cannot be found in the program; link the program with the shared CUDA runtime");
  const size_t sizeBytes = place.address ? size_t{variable.sizeBytes} : ours.sizeBytes;
  if (sizeBytes > program.sizeBytes)
    refuse("has " + std::to_string(program.sizeBytes) + " bytes in the program, and " +
           std::to_string(sizeBytes) + " in the tuned image");
  if (place.address)
    write(driver, place.address, program.address);
  else
    constants_.add({ours.address, program.address, sizeBytes, variable.areWritesTold});
}

void CudaPlacement::set(int attribute, int value) noexcept {
  // What is refused here makes the launch fail, which then is the program's own kernel's.
  source_.driver.cuFuncSetAttribute(function_, static_cast<CUfunction_attribute>(attribute), value);
}

void CudaPlacement::applyWishes(const LaunchWishes& wishes) noexcept {
  const auto allowed = [&] {
    int value = 0;
    source_.driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      function_);
    return value;
  };
  if (wishes.maxDynamicSharedBytes > allowed())
    set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, wishes.maxDynamicSharedBytes);
  if (wishes.sharedCarveout != wishes_.sharedCarveout)
    set(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, wishes.sharedCarveout);
  if (wishes.hasLargeClusters)
    set(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  if (wishes.clusterPolicy != wishes_.clusterPolicy)
    set(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, wishes.clusterPolicy);
  wishes_ = wishes;
  maxDynamicSharedBytes_ = allowed();
}

bool CudaPlacement::refreshWishes() noexcept {
  LaunchWishes wishes;
  if (!source_.runtime.askWishes(source_.handle, wishes))
    return false;
  setCarveout(wishes, source_);
  const std::lock_guard lock(wishesLock_);
  if (isSame(wishes, wishes_))
    return false;
  const RelaxedCapture relaxed(source_.driver);
  applyWishes(wishes);
  return true;
}

CudaKernel::CudaKernel(CudaSource source, const CudaContext& context)
    : source_(std::move(source)), device_(context.device) {
  const RelaxedCapture relaxed(source_.driver);
  auto life = std::make_unique<Life>();
  life->contextId = context.id;
  life->placement = std::make_unique<CudaPlacement>(source_, context);
  current_ = life.get();
  lives_.push_back(std::move(life));
}

CudaPlacement* CudaKernel::placementIn(const CudaContext& context) noexcept {
  const Life* life = current_.load(std::memory_order_acquire);
  if (life->contextId != context.id)
    life = context.device == device_ ? begin(context) : nullptr;
  return life ? life->placement.get() : nullptr;
}

const CudaKernel::Life* CudaKernel::begin(const CudaContext& context) noexcept {
  try {
    const std::lock_guard lock(livesLock_);
    for (const auto& life : lives_)
      if (life->contextId == context.id)
        return life.get();
    auto life = std::make_unique<Life>();
    life->contextId = context.id;
    lives_.push_back(std::move(life));
    Life& next = *lives_.back();
    try {
      const RelaxedCapture relaxed(source_.driver);
      next.placement = std::make_unique<CudaPlacement>(source_, context);
    } catch (...) { // the context stays without it
    }
    current_.store(&next, std::memory_order_release);
    return &next;
  } catch (...) {
    return nullptr;
  }
}

} // namespace mneme::jit
