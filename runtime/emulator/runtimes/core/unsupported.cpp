#include "runtime/emulator/runtimes/core/unsupported.h"

#include <string>

#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/core/status.h"

namespace mneme::cpu_runtime {

int unsupported(const char* name) noexcept {
  return static_cast<int>(always([&] {
    noticeOnce(std::string(name) + " is not supported on the CPU device");
    return Status::NotSupported;
  }));
}

} // namespace mneme::cpu_runtime
