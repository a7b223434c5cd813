// Room emulator/runtimes: a device with a kernel that never ends, as the stand-in plays it.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>

#include "tests/hip_stand_in/stand_in.h"

namespace mneme::stand_in {
namespace {

constexpr std::array<std::string_view, 2> kQueries = {"hipEventQuery", "hipStreamQuery"};
constexpr std::array<std::string_view, 12> kWaiting = {"hipEventSynchronize",
                                                       "hipStreamSynchronize",
                                                       "hipDeviceSynchronize",
                                                       "hipCtxSynchronize",
                                                       "hipMemcpy",
                                                       "hipMemcpyDtoH",
                                                       "hipMemcpyHtoD",
                                                       "hipMemcpyDtoD",
                                                       "hipMemset",
                                                       "hipFree",
                                                       "hipStreamDestroy",
                                                       "hipModuleUnload"};

std::atomic<bool> isHanging{false};

int waitForEver() {
  for (;;)
    pause();
}

template <size_t Count>
bool isIn(const std::array<std::string_view, Count>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

void hang() noexcept { isHanging = true; }

void* whileHanging(const char* function) noexcept {
  if (!isHanging)
    return nullptr;
  if (isIn(kQueries, function))
    return failureWith(kNotReady);
  return isIn(kWaiting, function) ? reinterpret_cast<void*>(&waitForEver) : nullptr;
}

} // namespace mneme::stand_in
