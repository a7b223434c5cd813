#include "runtime/devices/hip/hip_bulk_code.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compiler/service/disk_cache.h"
#include "runtime/compiler/service/service.h"
#include "runtime/core/base/error.h"
#include "runtime/devices/bulk/launch_plan.h"
#include "runtime/devices/hip/hip_description.h"

namespace mneme::device::hip {

namespace {

std::vector<std::byte> compiled(BulkModule module, const char* kernel, const std::string& target) {
  const std::span<const std::byte> bitcode = bulkBitcode(module);
  compile::Request request;
  request.modules.emplace_back(bitcode.begin(), bitcode.end());
  request.kernel = kernel;
  request.target = target;
  request.setLaunchBounds = true;
  request.maxThreads = bulk::blockThreads;
  // In a process of its own: the recorder works inside an application, where no LLVM is loaded.
  compile::ServiceOptions options{.cacheDirectory = compile::cacheDirectory().value_or(""),
                                  .cacheBytes = compile::cacheBytesLimit()};
  try {
    return compile::compileApart(request, options).image;
  } catch (const Error& failure) {
    throw Error(failure.code(), "compiling the bulk operation '" + std::string(kernel) + "' for " +
                                    target + " failed: " + failure.what());
  }
}

class BulkBitcode final : public gpu::BulkCode {
public:
  /// The compiler makes images of one kernel.
  std::string imageWith(BulkModule, const char* kernel) const override { return kernel; }

  hipModule_t load(BulkModule module, const char* kernel) const override {
    const Driver& driver = Driver::get();
    int device = 0;
    driver.require(driver.hipGetDevice(&device), "asking for the current GPU");
    hipModule_t loaded = nullptr;
    driver.require(
        driver.hipModuleLoadData(&loaded, imageFor(targetOf(driver, device), module, kernel)),
        "loading the bulk operations");
    return loaded;
  }

private:
  const std::byte* imageFor(const std::string& target, BulkModule module,
                            const char* kernel) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::byte>& image = images_[{target, kernel}];
    if (image.empty())
      image = compiled(module, kernel, target);
    return image.data();
  }

  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::string, std::string>, std::vector<std::byte>> images_;
};

} // namespace

const gpu::BulkCode& bulkCode() {
  static const auto& code = *new BulkBitcode();
  return code;
}

} // namespace mneme::device::hip
