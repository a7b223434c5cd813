#include "runtime/jit/backends/cuda/constants.h"

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/devices/cuda/application.h"

namespace mneme::jit {

using namespace device::cuda;

void CudaConstants::add(const Constant& constant) {
  constants_.push_back(constant);
  areWritesTold_ &= constant.areWritesTold;
}

bool CudaConstants::bringUpToDate(CUstream stream) noexcept {
  if (constants_.empty())
    return true;
  const uint64_t writes = mneme_rt_variable_writes();
  if (upToDate_.load(std::memory_order_acquire) == writes)
    return true;
  const Next what = areWritesTold_ ? next(writes) : Next::Copy;
  if (what == Next::Nothing)
    return true;
  if (!copy(stream))
    return false;
  if (what == Next::CopyAndNote)
    note(writes, stream);
  return true;
}

CudaConstants::Next CudaConstants::next(uint64_t writes) noexcept {
  const std::lock_guard lock(lock_);
  const auto now = Clock::now();
  if (seen_ != writes) {
    seen_ = writes;
    since_ = now;
    isNoted_ = false;
  } else if (isNoted_) {
    const RelaxedCapture relaxed(driver_);
    if (driver_.cuEventQuery(copied_) == CUDA_SUCCESS) {
      upToDate_.store(writes, std::memory_order_release);
      return Next::Nothing;
    }
  } else if (now - since_ >= kTransfer) {
    return Next::CopyAndNote;
  }
  return Next::Copy;
}

bool CudaConstants::copy(CUstream stream) const noexcept {
  for (const Constant& constant : constants_)
    if (driver_.cuMemcpyDtoDAsync(constant.ours, constant.theirs, constant.sizeBytes, stream) !=
        CUDA_SUCCESS)
      return false;
  return true;
}

void CudaConstants::note(uint64_t writes, CUstream stream) noexcept {
  const std::lock_guard lock(lock_);
  if (seen_ != writes)
    return;
  const RelaxedCapture relaxed(driver_);
  if (!copied_ && driver_.cuEventCreate(&copied_, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    copied_ = nullptr;
    return;
  }
  isNoted_ = driver_.cuEventRecord(copied_, stream) == CUDA_SUCCESS;
}

} // namespace mneme::jit
