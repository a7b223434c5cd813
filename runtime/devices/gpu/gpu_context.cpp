#include "runtime/devices/gpu/gpu_context.h"

#include "runtime/core/base/error.h"

namespace mneme::device::gpu {

void Context::requireUsable() const {
  if (isLost_)
    throw Error(ErrorCode::DeviceFailed,
                "the GPU's context was lost to an earlier failure; continue in a fresh process");
}

void Context::probe() noexcept {
  if (!isLost_ && driver_.isLost(driver_.queryStream(stream_)))
    isLost_ = true;
}

void Context::failed(Status status, std::string_view what) {
  if (driver_.isLost(status))
    isLost_ = true;
  driver_.raise(status, what);
}

} // namespace mneme::device::gpu
