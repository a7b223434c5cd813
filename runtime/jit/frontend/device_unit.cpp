#include "runtime/jit/frontend/device_unit.h"

#include <cstdlib>
#include <set>

#include "runtime/core/base/error.h"
#include "runtime/core/embed/device_code.h"
#include "runtime/jit/frontend/device_container.h"

namespace mneme::frontend {
namespace {

constexpr int kCudaMagic = 0x466243b1;
constexpr int kHipMagic = 0x48495046;

/// A file of tuned kernels may name kernels that this program has yet to make.
[[gnu::constructor]] void expectModules() { mneme_rt_expect_modules(); }

unsigned architectureOf(const std::string& target) {
  return target.starts_with("sm_") ? unsigned(std::strtoul(target.c_str() + 3, nullptr, 10)) : 90;
}

/// The CPU device runs code for any GPU, so one is as good as another.
std::string gpuOf(const std::string& target) { return target == "cpu" ? "gfx90a" : target; }

} // namespace

DeviceUnit::DeviceUnit(const VendorRuntime& runtime, std::span<const std::byte> image)
    : container_(runtime.vendor() == Vendor::Cuda
                     ? embed::withMember({}, image, architectureOf(runtime.target()))
                     : bundleWith(image, gpuOf(runtime.target()))),
      blobs_(embed::readDeviceImage(container_)) {
  for (const auto& [name, blob] : blobs_.kernels)
    names_.push_back(name);
  if (names_.empty()) // made by nvcc, which leaves no IR
    if (const auto code = embed::readCubin(image))
      for (const embed::DeviceKernel& kernel : code->kernels)
        names_.push_back(kernel.name);
  if (names_.empty())
    throw Error(ErrorCode::ArtifactCorrupt, "the compiled module has no kernel");
  handles_.resize(names_.size());
  for (const std::string& name : names_)
    kernels_.push_back({&handles_[kernels_.size()], name.c_str()});
  listVariables();
  registerAll(runtime);
}

void DeviceUnit::listVariables() {
  std::set<std::string> known;
  const auto list = [&](const embed::KernelBlob& blob) {
    for (const embed::KernelGlobal& global : blob.globals) {
      if (!global.isDefined || !known.insert(global.name).second)
        continue;
      shadows_.push_back(std::make_unique<std::byte[]>(global.sizeBytes + 1));
      variables_.push_back({shadows_.back().get(), global.name.c_str(), global.sizeBytes,
                            global.isConstant ? uint32_t{MNEME_GLOBAL_CONSTANT} : 0, 0});
    }
  };
  for (const auto& [name, blob] : blobs_.kernels)
    list(*blob);
  for (const auto& blob : blobs_.modules)
    list(*blob);
}

void DeviceUnit::registerAll(const VendorRuntime& runtime) {
  const bool isCuda = runtime.vendor() == Vendor::Cuda;
  wrapper_ = {isCuda ? kCudaMagic : kHipMagic, 1, container_.data(), nullptr};
  module_ = {.version = MNEME_RT_ABI,
             .vendor = static_cast<uint32_t>(runtime.vendor()),
             .fatbinWrapper = &wrapper_,
             .kernels = kernels_.data(),
             .globals = variables_.data(),
             .kernelCount = kernels_.size(),
             .globalCount = variables_.size()};
  mneme_rt_register_module(&module_);
  void** const binary = runtime.registerFatBinary(&wrapper_);
  for (const mneme_kernel_entry& kernel : kernels_)
    runtime.registerFunction(binary, kernel.handle, kernel.name);
  for (const mneme_global_entry& variable : variables_)
    runtime.registerVariable(binary, const_cast<void*>(variable.hostShadow), variable.name,
                             variable.sizeBytes, variable.flags & MNEME_GLOBAL_CONSTANT);
  runtime.endRegistration(binary);
}

void* DeviceUnit::kernel(const std::string& name) {
  for (const mneme_kernel_entry& kernel : kernels_)
    if (name == kernel.name)
      return const_cast<void*>(kernel.handle);
  return nullptr;
}

} // namespace mneme::frontend
