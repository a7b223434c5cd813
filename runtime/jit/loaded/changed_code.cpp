// Room jit/loaded: what LoadedEngine launches in place of the program's code.
#include <algorithm>
#include <utility>

#include "runtime/core/base/cancellation.h"
#include "runtime/core/base/error.h"
#include "runtime/core/embed/code_image.h"
#include "runtime/jit/loaded/loaded_engine.h"
#include "runtime/jit/loaded/variant_code.h"
#include "runtime/jit/request.h"

namespace mneme::jit {
namespace {

/// For one kernel: constants may have other values in each launch.
constexpr size_t kMostCodes = 256;

} // namespace

void* LoadedEngine::changedCode(Kernel& kernel, size_t variant, const DriverLaunch& launch,
                                const tuned::Dims& dims, void* const* args) noexcept {
  const uint64_t context = driver_.currentContext();
  if (context == 0)
    return nullptr;
  const DeferredCancellation deferred; // the driver may compile
  try {
    void* code = nullptr;
    {
      const std::lock_guard lock(kernel.changed->mutex);
      const tuned::Variant& chosen = kernel.variants[variant];
      const std::vector<ArgValue> values =
          kernel.ir ? constantsOf(chosen, *kernel.ir, args) : std::vector<ArgValue>();
      const uint64_t key = kernel.ir ? keyOf(variant, chosen, dims, values) : variant;
      auto known = kernel.changed->code.find({context, key});
      if (known == kernel.changed->code.end() && kernel.changed->code.size() < kMostCodes)
        known =
            kernel.changed->code
                .emplace(std::pair(context, key), kernel.ir ? compiled(kernel, chosen, dims, values)
                                                            : makeChanged(kernel, chosen))
                .first;
      code = known == kernel.changed->code.end() ? nullptr : known->second;
    }
    const uint32_t carveout = kernel.variants[variant].sharedCarveout;
    const bool isPossible =
        code && driver_.takeAttributes(launch.function, code, launch.sharedBytes, carveout);
    return isPossible ? code : nullptr;
  } catch (const std::exception&) { // no memory
    return nullptr;
  }
}

/// The file may be another machine's, or damaged: code that takes other arguments, or has variables
/// that the program would not find, never runs. \throws Error
void LoadedEngine::checkCode(const Kernel& kernel, const tuned::Variant& variant) {
  const std::string target = driver_.target(driver_.currentDevice());
  if (variant.match.arch != target)
    throw Error(ErrorCode::Unsupported,
                "its machine code is for " + variant.match.arch + ", not for " + target);
  if (variant.processor != driver_.processor())
    throw Error(ErrorCode::Unsupported, "its machine code is for another processor");
  const embed::CodeImage image = embed::copyImage(*variant.cubin);
  const bool isForCpu = kernel.blob.imageForm == embed::kCpuForm;
  if (image.form.empty() || (image.form == embed::kCpuForm) != isForCpu)
    throw Error(ErrorCode::ArtifactCorrupt, "what the file has in its place is not device code");
  const embed::DeviceCode code = embed::readCode(image, target);
  const embed::DeviceKernel* const found = code.find(kernel.blob.kernel);
  if (!found)
    throw Error(ErrorCode::ArtifactCorrupt, "the file's code has no such kernel");
  if (found->parameters &&
      !std::ranges::equal(*found->parameters, kernel.blob.args, {},
                          &embed::DeviceParameter::sizeBytes, &KernelArg::sizeBytes))
    throw Error(ErrorCode::ArtifactCorrupt, "the file's code takes other arguments");
}

void* LoadedEngine::makeChanged(const Kernel& kernel, const tuned::Variant& variant) noexcept {
  const std::string& name = kernel.blob.kernel;
  try {
    const embed::PtxLimits limits = limitsOf(variant);
    if (kernel.hasVariables)
      throw Error(ErrorCode::Unsupported,
                  "its code has device variables, of which other code would have its own");
    if (variant.cubin)
      checkCode(kernel, variant);
    std::vector<std::byte> code = variant.cubin ? *variant.cubin : *kernel.blob.image;
    if (!variant.cubin && limits.isAny())
      code = embed::withLimits(ptxIn(code, driver_.target(driver_.currentDevice())), name, limits);
    code.push_back(std::byte{0});
    return driver_.load(code, name);
  } catch (const std::exception& error) {
    warn(name, error.what());
    return nullptr;
  }
}

void* LoadedEngine::compiled(const Kernel& kernel, const tuned::Variant& variant,
                             const tuned::Dims& dims,
                             const std::vector<ArgValue>& values) noexcept {
  const std::string& name = kernel.blob.kernel;
  try {
    if (kernel.hasVariables)
      throw Error(ErrorCode::Unsupported,
                  "its code has device variables, of which other code would have its own");
    const BinarySpec spec{
        .target = driver_.target(driver_.currentDevice()), .dims = dims, .values = values};
    std::vector<std::byte> code = services_.compile(makeRequest(*kernel.ir, variant, spec));
    code.push_back(std::byte{0});
    return driver_.load(code, name);
  } catch (const std::exception& error) {
    warn(name, error.what());
    return nullptr;
  }
}

} // namespace mneme::jit
