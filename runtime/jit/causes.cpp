#include "runtime/jit/causes.h"

#include <mutex>

#include "runtime/compiler/service/service.h"
#include "runtime/core/base/grouped_notices.h"

namespace mneme::jit {

bool isKnownCause(const std::exception& error) noexcept {
  if (!dynamic_cast<const compile::ProcessError*>(&error))
    return false;
  try {
    // Never destroyed: launches may come while the process ends.
    static auto& mutex = *new std::mutex;
    static auto& known = *new Grouped;
    const std::lock_guard lock(mutex);
    return !known.add(error.what());
  } catch (const std::exception&) { // no memory: the failure is reported once more
    return false;
  }
}

} // namespace mneme::jit
