#include "runtime/jit/backends/hip/hip_kernel.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "runtime/core/abi/variable_names.h"
#include "runtime/core/base/error.h"
#include "runtime/jit/backends/hip/runtime.h"
#include "runtime/jit/hidden_variable.h"

namespace mneme::jit {
namespace {

using namespace device::hip;

const void* shadowIn(const mneme_module_entry& module, const std::string& name) {
  for (uint64_t index = 0; index < module.globalCount; ++index)
    if (name == module.globals[index].name)
      return module.globals[index].hostShadow;
  return nullptr;
}

/// What the host program knows a variable by: in the kernel's own unit, else (relocatable device
/// code) in the only other one that has it. Null if there is none.
const void* shadowOf(const mneme_module_entry* module, const std::string& name) {
  if (const void* own = module ? shadowIn(*module, name) : nullptr)
    return own;
  struct Search {
    const std::string& name;
    std::set<const void*> found;
  } search{name, {}};
  mneme_rt_visit_modules(
      [](void* user, const mneme_module_entry* unit) {
        auto& wanted = *static_cast<Search*>(user);
        if (const void* shadow = shadowIn(*unit, wanted.name))
          wanted.found.insert(shadow);
      },
      &search);
  return search.found.size() == 1 ? *search.found.begin() : nullptr;
}

/// One of ours for a variable that host code has none of. HIP keeps it in a table, which it looks
/// at when it is asked for it: a name that the code has not would end the process then (clr,
/// hipamd/src/hip_global.cpp), so that is looked at before.
const void* madeShadowOf(const mneme_module_entry* module, const std::string& name) {
  static std::mutex mutex;
  static auto* const shadows = // HIP has them for good
      new std::map<std::pair<uint64_t, std::string>, std::unique_ptr<char>>;
  const auto add = HipRuntime::get().registerVariable;
  const HiddenVariable found = module && add ? findHidden(*module, name) : HiddenVariable{};
  if (!found.codeHandle)
    return nullptr;
  const std::lock_guard lock(mutex);
  std::unique_ptr<char>& shadow = (*shadows)[{found.registration, name}];
  if (!shadow) {
    shadow = std::make_unique<char>();
    add(static_cast<void**>(found.codeHandle), shadow.get(), name.c_str(), name.c_str(), 0,
        found.sizeBytes, 0, 0);
  }
  return shadow.get();
}

/// Writes to the device past every stream of the program.
void write(const Driver& driver, hipDeviceptr_t place, uint64_t value) {
  const char* what = "telling the kernel where a device variable is";
  hipStream_t stream = nullptr;
  driver.require(driver.createStream(&stream), what);
  device::gpu::Status status =
      driver.copyToDevice(reinterpret_cast<uint64_t>(place), &value, sizeof value, stream);
  if (status == hipSuccess)
    status = driver.waitForStream(stream);
  driver.destroyStream(stream);
  driver.require(status, what);
}

} // namespace

HipKernel::HipKernel(const Driver& driver, const KernelImage& image)
    : driver_(driver), kernel_(image.kernel), image_(image.image.begin(), image.image.end()) {
  const KeepsLastError keeps = HipRuntime::get().keepLastError();
  const device::hip::CaptureRelaxed relaxed(HipRuntime::get().exchangeCaptureMode);
  const std::string what = "loading the tuned kernel '" + kernel_ + "'";
  driver.require(driver.hipGetDevice(&device_), what);
  driver.require(driver.hipModuleLoadData(&module_, image_.data()), what);
  try {
    driver.require(driver.hipModuleGetFunction(&function_, module_, kernel_.c_str()), what);
    std::set<std::string> bound; // several units name one
    for (const embed::KernelGlobal& global : image.globals)
      if (bound.insert(global.name).second)
        bind(global, image.module);
  } catch (...) {
    driver.hipModuleUnload(module_);
    throw;
  }
  HipKernelFacts facts{};
  if (const auto ask = HipRuntime::get().getFuncAttributes;
      ask && ask(&facts, image.handle) == hipSuccess)
    maxThreadsPerBlock_ = static_cast<uint64_t>(facts.maxThreadsPerBlock);
}

HipKernel::~HipKernel() {
  const KeepsLastError keeps = HipRuntime::get().keepLastError();
  const device::hip::CaptureRelaxed relaxed(HipRuntime::get().exchangeCaptureMode);
  driver_.hipModuleUnload(module_);
}

void HipKernel::bind(const embed::KernelGlobal& global, const mneme_module_entry* module) const {
  const auto find = [&](const std::string& name) {
    hipDeviceptr_t address = nullptr;
    size_t sizeBytes = 0;
    return driver_.hipModuleGetGlobal(&address, &sizeBytes, module_, name.c_str()) == hipSuccess
               ? address
               : nullptr;
  };
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::DeviceFailed,
                "device variable '" + global.name + "' of kernel '" + kernel_ + "' " + why);
  };
  const hipDeviceptr_t place = find(placeVariable(global.name));
  if (!place) {
    if (find(global.name))
      refuse("is in the tuned image, where the program does not see it");
    return; // the kernel does not need it
  }
  void* program = nullptr;
  const auto ask = HipRuntime::get().getSymbolAddress;
  const void* shadow = shadowOf(module, global.name);
  if (!shadow)
    shadow = madeShadowOf(module, global.name);
  if (!shadow || !ask || ask(&program, shadow) != hipSuccess || !program)
    refuse("cannot be found in the program");
  write(driver_, place, reinterpret_cast<uint64_t>(program));
}

} // namespace mneme::jit
