#include "runtime/emulator/runtimes/core/status.h"

#include <atomic>

#include "runtime/core/base/log.h"
#include "runtime/core/base/standard_error.h"

namespace mneme::cpu_runtime {
namespace {

/// Remembers stderr early, because the program may have another file under its number when a
/// message is printed.
[[gnu::constructor]] void rememberWhereMessagesGo() { rememberStandardError(); }

thread_local Status threadError = Status::Success;
std::atomic<bool> isErrorForgotten{false};
std::atomic<Status> waitingFault{Status::Success};
std::atomic<Status> stickyFault{Status::Success};

} // namespace

Status lastError() noexcept { return threadError; }

Status takeLastError() noexcept {
  const Status status = threadError;
  threadError = Status::Success;
  return status;
}

Status remember(Status status) noexcept {
  if (status != Status::Success || isErrorForgotten.load(std::memory_order_relaxed))
    threadError = status;
  return status;
}

void forgetErrorsAtSuccess() noexcept { isErrorForgotten = true; }

void reportFault(Status fault) noexcept {
  Status none = Status::Success;
  waitingFault.compare_exchange_strong(none, fault);
}

bool isFaulted() noexcept { return waitingFault.load() != Status::Success; }

Status synchronise() noexcept {
  const Status fault = waitingFault.load();
  if (fault != Status::Success)
    stickyFault.store(fault);
  return fault;
}

Status surfacedFault() noexcept { return stickyFault.load(std::memory_order_relaxed); }

void clearFault() noexcept {
  waitingFault.store(Status::Success);
  stickyFault.store(Status::Success);
}

Status statusOf(const std::exception& failure) noexcept {
  const auto* error = dynamic_cast<const Error*>(&failure);
  noticeOnce(failure.what());
  if (!error)
    return Status::Unknown;
  switch (error->code()) {
  case ErrorCode::InvalidArgument:
    return Status::InvalidConfiguration;
  case ErrorCode::OutOfMemory:
    return Status::MemoryAllocation;
  case ErrorCode::Unsupported:
    return Status::NotSupported;
  case ErrorCode::NotFound:
  case ErrorCode::ArtifactCorrupt:
  case ErrorCode::CompileFailed:
  case ErrorCode::BackendUnavailable:
    return Status::NoKernelImageForDevice;
  default:
    return Status::Unknown;
  }
}

} // namespace mneme::cpu_runtime
