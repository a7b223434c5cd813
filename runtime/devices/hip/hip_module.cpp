#include "runtime/devices/hip/hip_module.h"

#include <algorithm>

#include "runtime/core/base/error.h"

namespace mneme::device::hip {

namespace {

/// Names of processors without features: code for "gfx90a" runs on "gfx90a:sramecc+:xnack-".
std::string processorOf(const std::string& target) { return target.substr(0, target.find(':')); }

} // namespace

HipModule::HipModule(Context& context, const Description& device, std::span<const std::byte> image,
                     const std::string& kernel)
    : LoadedKernel(kernel), context_(context), image_(image.begin(), image.end()) {
  context_.requireUsable();
  const CodeObjectFacts facts = readCodeObject(image, kernel);
  if (facts.target.empty())
    throw Error(ErrorCode::CompileFailed,
                "loading kernel '" + kernel + "' failed: the image is not a complete code object");
  const gpu::ContextScope scope = context_.use();
  try {
    load();
    readAttributes(facts);
    argumentSizes_ = facts.argumentSizes;
    readGlobals(facts.variables);
  } catch (const Error& failure) {
    context_.probe();
    if (module_ && !context_.isHung())
      context_.driver().hipModuleUnload(module_);
    if (failure.code() != ErrorCode::CompileFailed ||
        processorOf(facts.target) == processorOf(device.target))
      throw;
    throw Error(ErrorCode::CompileFailed, std::string(failure.what()) + "; the image is for " +
                                              facts.target + ", device " + device.id + " (" +
                                              device.name + ") is " + device.target);
  }
}

HipModule::~HipModule() {
  context_.whenFreeing([this] { context_.driver().hipModuleUnload(module_); });
}

void HipModule::load() {
  const Driver& driver = context_.driver();
  const std::string what = "loading kernel '" + kernel_ + "'";
  const hipError_t loaded = driver.hipModuleLoadData(&module_, image_.data());
  // HIP also returns this code for code objects of another target.
  if (loaded == hipErrorInvalidValue || loaded == hipErrorFileNotFound)
    throw Error(ErrorCode::CompileFailed, what + " failed: " + driver.textOf(loaded));
  context_.check(loaded, what);
  const hipError_t found = driver.hipModuleGetFunction(&function_, module_, kernel_.c_str());
  if (found == hipErrorNotFound)
    throw Error(ErrorCode::NotFound, "the image has no kernel '" + kernel_ + "'");
  context_.check(found, what);
}

void HipModule::readGlobals(const std::vector<CodeObjectVariable>& variables) {
  for (const CodeObjectVariable& variable : variables) {
    hipDeviceptr_t address = nullptr;
    size_t sizeBytes = 0;
    // Variables that HIP does not name cannot be reached by anyone else either.
    if (context_.driver().hipModuleGetGlobal(&address, &sizeBytes, module_,
                                             variable.name.c_str()) == hipSuccess)
      globals_.push_back(
          {variable.name, reinterpret_cast<uint64_t>(address), sizeBytes, variable.isConstant});
    else
      context_.driver().hipGetLastError();
  }
}

void HipModule::readAttributes(const CodeObjectFacts& facts) {
  int threads = 0;
  context_.check(context_.driver().hipFuncGetAttribute(
                     &threads, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function_),
                 "asking for the resources of kernel '" + kernel_ + "'");
  attributes_.maxThreadsPerBlock = static_cast<uint32_t>(threads);
  if (facts.maxThreads)
    attributes_.maxThreadsPerBlock = std::min(attributes_.maxThreadsPerBlock, facts.maxThreads);
  attributes_.staticSharedBytes = facts.ldsBytes;
  attributes_.localBytes = facts.scratchBytes;
  attributes_.registers = facts.vectorRegisters;
}

} // namespace mneme::device::hip
