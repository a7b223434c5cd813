#include "runtime/emulator/lowering/lower_for_cpu.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/core/base/error.h"
#include "runtime/emulator/lowering/amdgcn/amdgcn.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/phases/phases.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile {
namespace {

void verifyResult(Module& module, const std::string& kernel) {
  std::string message;
  raw_string_ostream stream(message);
  if (verifyModule(module, &stream))
    throw Error(ErrorCode::Internal,
                "lowering kernel '" + kernel + "' for the CPU gave invalid IR: " + message);
}

/// After all translation, only functions without any definition can still be undefined.
void checkNothingUndefined(Module& module) {
  for (Function& function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() || function.use_empty())
      continue;
    if (function.hasFnAttribute("mneme-host"))
      continue;
    if (function.getName() == "__printf_alloc")
      throw Error(ErrorCode::Unsupported,
                  "the kernel's printf is compiled with -mprintf-kind=buffered, which the CPU "
                  "device cannot execute; compile it with -mprintf-kind=hostcall");
    if (function.getName().starts_with("__cudaCDP2"))
      throw Error(ErrorCode::Unsupported,
                  "the kernel launches kernels by itself, which the CPU device cannot do");
    throw Error(ErrorCode::Unsupported,
                "the kernel calls device function '" + demangle(function.getName()) +
                    "', which no code built with mneme defines and the CPU device does not "
                    "provide; build the library that defines it with mneme, too");
  }
}

void finishFunctions(Module& module, const CpuLoweringOptions& options) {
  for (Function& function : make_early_inc_range(module)) {
    if (function.isDeclaration() && function.use_empty()) {
      function.eraseFromParent();
      continue;
    }
    function.removeFnAttr("mneme-host");
    if (function.isDeclaration())
      continue;
    if (!options.targetCpu.empty())
      function.addFnAttr("target-cpu", options.targetCpu);
    if (!options.targetFeatures.empty())
      function.addFnAttr("target-features", options.targetFeatures);
  }
}

/// Blocks run one by one: those of a cluster, which share their memory, cannot.
void refuseClusters(const Function& kernel) {
  SmallVector<StringRef> sizes;
  kernel.getFnAttribute("nvvm.cluster_dim").getValueAsString().split(sizes, ',', -1, false);
  if (any_of(sizes, [](StringRef size) { return size != "1"; }))
    cpu::throwUnsupported("thread block clusters of more than one block (__cluster_dims__)",
                          kernel);
}

/// The vendor's own becomes special registers, services and plain IR. Returns the warp size.
unsigned adoptNvptx(Module& module, Function& kernel, const TargetMachine& machine,
                    const CpuLoweringOptions& options) {
  refuseClusters(kernel);
  cpu::foldReflect(module, options);
  cpu::dropDeviceProperties(module, options);
  cpu::replaceDeviceMath(module);
  cpu::keepReachable(module, kernel);
  cpu::setHostTarget(module, machine);
  cpu::replaceVendorCalls(module);
  cpu::defineEdgeCases(module, options.flushDenormals, false);
  cpu::lowerInlineAssembly(module);
  cpu::lowerNvvm(module);
  return MNEME_CPU_WARP_SIZE;
}

/// Does what adoptNvptx does, for this kind of code. `kernel` becomes another function.
unsigned adoptAmdgcn(Module& module, Function*& kernel, const TargetMachine& machine,
                     const CpuLoweringOptions& options) {
  const cpu::AmdgcnTraits traits = cpu::readAmdgcnTraits(module, *kernel);
  const SmallVector<FenceInst*> fences = cpu::waveFences(module);
  cpu::dropDeviceProperties(module, options);
  cpu::setHostTarget(module, machine);
  cpu::waitAtFences(fences);
  cpu::replaceAmdgcnLibraries(module, traits, options);
  cpu::keepReachable(module, *kernel);
  kernel = &cpu::flattenAmdgcnSpaces(module, *kernel);
  cpu::replaceVendorCalls(module);
  cpu::defineEdgeCases(module, options.flushDenormals, true);
  cpu::lowerAmdgcn(module, traits);
  return traits.waveSize;
}

} // namespace

CpuLoweringResult lowerToCpu(Module& module, const TargetMachine& machine,
                             const CpuLoweringOptions& options) {
  Function* kernel = module.getFunction(options.kernel);
  if (!kernel || kernel->isDeclaration())
    throw Error(ErrorCode::NotFound,
                "kernel '" + options.kernel + "' is not defined in the module");

  const bool isAmdgcn = cpu::isAmdgcn(module);
  const unsigned warpSize = isAmdgcn ? adoptAmdgcn(module, kernel, machine, options)
                                     : adoptNvptx(module, *kernel, machine, options);
  cpu::cleanUp(module);
  cpu::inlineCalls(module, *kernel);
  cpu::cleanUp(module);
  if (isAmdgcn)
    cpu::keepReachable(module, *kernel); // HIP's threadIdx and the like are objects, now unused
  cpu::keepInStep(*kernel, warpSize);
  cpu::numberWaveOperations(module, *kernel);

  cpu::KernelTraits traits = cpu::classify(module, *kernel);
  cpu::SharedLayout shared = cpu::lowerSharedMemory(module, *kernel);
  if (shared.hasBarrier)
    traits.hasBarrier = true, traits.isLoop = false;
  traits.mayRegroup = !options.fibersOnly;
  if (traits.mayRegroup && !traits.waits && cpu::canRunInPhases(module, *kernel))
    traits.isLoop = traits.isPhased = true;
  cpu::GlobalTable globals = cpu::lowerGlobals(module);
  cpu::KernelEntry entry = cpu::buildEntry(module, *kernel, traits, {shared.staticBytes, warpSize});
  cpu::lowerServices(module);
  checkNothingUndefined(module);
  if (traits.isLoop)
    cpu::markParallel(*entry.function);
  cpu::emitImageHeader(module, options.kernel, entry, traits, warpSize, shared, globals);
  finishFunctions(module, options);
  verifyResult(module, options.kernel);

  CpuLoweringResult result;
  result.isLoop = traits.isLoop;
  result.hasBarrier = traits.hasBarrier;
  result.staticSharedBytes = shared.staticBytes;
  result.sharedAlignBytes = shared.alignBytes;
  result.constantBytes = globals.constantBytes;
  result.localBytes = entry.localBytes;
  return result;
}

} // namespace mneme::compile
