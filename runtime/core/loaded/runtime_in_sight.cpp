#include "runtime/core/loaded/runtime_in_sight.h"

#include <atomic>

namespace mneme::loaded {
namespace {

std::atomic<bool> isInSight{false};

} // namespace

void noteRuntimeInSight() noexcept { isInSight = true; }
bool isRuntimeInSight() noexcept { return isInSight.load(std::memory_order_relaxed); }

} // namespace mneme::loaded
