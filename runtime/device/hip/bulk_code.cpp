#include "runtime/device/hip/bulk_code.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/compile/service/disk_cache.h"
#include "runtime/compile/service/service.h"
#include "runtime/device/hip/description.h"

namespace mneme::device::hip {

namespace {

std::vector<std::byte> compiled(BulkModule module, const char* kernel, const std::string& target) {
  const std::span<const std::byte> bitcode = bulkBitcode(module);
  compile::Request request;
  request.modules.emplace_back(bitcode.begin(), bitcode.end());
  request.kernel = kernel;
  request.target = target;
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

} // namespace

std::span<const std::byte> bulkCode(const Driver& driver, int device, BulkModule module,
                                    const char* kernel) {
  static std::mutex mutex;
  static auto& kept = *new std::map<std::pair<std::string, std::string>, std::vector<std::byte>>();
  const std::string target = targetOf(driver, device);
  const std::lock_guard lock(mutex);
  std::vector<std::byte>& image = kept[{target, kernel}];
  if (image.empty())
    image = compiled(module, kernel, target);
  return image;
}

} // namespace mneme::device::hip
