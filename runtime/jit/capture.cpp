// What a program learns of its own marked kernels.
#include "runtime/core/abi/mneme_jit_capture.h"

#include <vector>

#include "runtime/core/base/log.h"
#include "runtime/core/base/sentence.h"
#include "runtime/jit/jit_backend.h"
#include "runtime/jit/kernel_code.h"

namespace mneme::jit {
namespace {

bool capture(const void* kernel, mneme_capture_taker take, void* user) {
  const mneme_module_entry* module = nullptr;
  const char* name = nullptr;
  if (!mneme_rt_find_kernel(kernel, &module, &name))
    return false;
  CodeReader reader([](const embed::KernelBlob&) { return false; });
  const std::optional<KernelCode> code = reader.find(kernel, module, name);
  if (!code || !code->blob->marks)
    return false;
  std::vector<mneme_captured_global> globals;
  for (uint64_t index = 0; index < module->globalCount; ++index) {
    const mneme_global_entry& global = module->globals[index];
    globals.push_back(
        {global.name, global.hostShadow, variablePlaceOf(global.hostShadow), global.sizeBytes});
  }
  const std::vector<std::byte>& bitcode = code->blob->bitcode;
  const mneme_captured_kernel captured{.name = code->name.c_str(),
                                       .staticHash = code->blob->staticHash,
                                       .bitcode = bitcode.data(),
                                       .bitcodeBytes = bitcode.size(),
                                       .globals = globals.data(),
                                       .globalCount = globals.size()};
  take(user, &captured);
  return true;
}

} // namespace
} // namespace mneme::jit

int mneme_jit_capture_kernel(const void* kernel, mneme_capture_taker take, void* user) {
  try {
    return mneme::jit::capture(kernel, take, user) ? 1 : 0;
  } catch (const std::exception& error) {
    mneme::noticeOnce(mneme::sentence("a kernel cannot be captured: ", error.what()));
    return 0;
  }
}
