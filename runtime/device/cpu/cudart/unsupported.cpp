#include "runtime/device/cpu/cudart/unsupported.h"

#include <string>

#include "runtime/base/log.h"
#include "runtime/device/cpu/cudart/status.h"

namespace mneme::cudart {

int unsupported(const char* name) noexcept {
  return static_cast<int>(always([&] {
    noticeOnce(std::string(name) + " is not supported on the CPU device");
    return Status::NotSupported;
  }));
}

} // namespace mneme::cudart
