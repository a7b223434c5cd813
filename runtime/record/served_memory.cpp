#include "runtime/record/served_memory.h"

#include "runtime/record/session.h"

namespace mneme::record {
namespace {

using artifact::RegionKind;

int adoptKind(RegionKind kind) {
  switch (kind) {
  case RegionKind::Managed:
    return 1;
  case RegionKind::HostPinned:
    return 2;
  case RegionKind::Allocation:
  case RegionKind::Global:
    break;
  }
  return 0;
}

unsigned currentDevice(const Session& session) {
  int device = 0;
  if (session.vendor() && session.vendor()->getDevice)
    session.vendor()->getDevice(&device);
  return static_cast<unsigned>(device);
}

/// Runs `action`; what it throws becomes a note, and `otherwise` the answer.
template <typename Action>
auto guarded(Session& session, const char* what, decltype(std::declval<Action>()()) otherwise,
             const Action& action) noexcept {
  try {
    return action();
  } catch (const std::exception& error) {
    session.note(std::string(what) + " could not be followed: " + error.what());
    return otherwise;
  }
}

void* take(Session& session, size_t bytes, RegionKind kind) {
  const Vendor* vendor = session.vendor();
  if (bytes == 0 || !session.isActive() || !vendor || !vendor->isCpuDevice)
    return nullptr;
  void* served = session.memory()->allocate(bytes, kind, currentDevice(session));
  if (served)
    vendor->adopt(served, bytes, adoptKind(kind));
  return served;
}

bool isOfKind(const Allocation& allocation, FreeKind kind) {
  return !allocation.isRegistered &&
         (allocation.kind == RegionKind::HostPinned) == (kind == FreeKind::Host);
}

} // namespace

bool isCapturingGraph(const Vendor* vendor, void* stream) noexcept {
  int status = 0;
  // The default stream is never captured. A handle that is no stream is the vendor's to judge.
  return stream && vendor && vendor->streamIsCapturing &&
         (vendor->streamIsCapturing(stream, &status) != 0 || status != 0);
}

int serve(void** pointer, size_t bytes, RegionKind kind, const Next& next) noexcept {
  const CallGuard guard;
  Session* session = guard.session();
  if (!session || !pointer)
    return next();
  void* served = guarded(*session, "an allocation", static_cast<void*>(nullptr),
                         [&] { return take(*session, bytes, kind); });
  if (served) {
    *pointer = served;
    return 0;
  }
  const int status = next();
  if (status == 0 && *pointer && session->isActive())
    guarded(*session, "an allocation", 0, [&] {
      session->memory()->noteForeign(*pointer, bytes);
      return 0;
    });
  return status;
}

int serveOrdered(void** pointer, size_t bytes, void* stream, const Next& next) noexcept {
  if (isCapturingGraph(findVendor(), stream))
    return next(); // the memory is the graph's
  return serve(pointer, bytes, RegionKind::Allocation, next);
}

int serveFree(void* pointer, FreeKind kind, const Next& next) noexcept {
  const CallGuard guard;
  Session* session = guard.session();
  if (!session || !pointer)
    return next();
  const auto known = guarded(*session, "a free", std::optional<Allocation>(),
                             [&] { return session->memory()->findExact(pointer); });
  if (!known || !isOfKind(*known, kind)) {
    const int status = next();
    if (status == 0)
      guarded(*session, "a free", 0, [&] {
        session->memory()->forgetForeign(pointer);
        return 0;
      });
    return status;
  }
  const Vendor* vendor = session->vendor();
  const int status = vendor->deviceSynchronize();
  vendor->disown(pointer);
  guarded(*session, "a free", false, [&] { return session->memory()->release(pointer); });
  return status;
}

int watchRegister(void* pointer, size_t bytes, const Next& next) noexcept {
  const CallGuard guard;
  const int status = next();
  if (Session* session = guard.session(); session && status == 0)
    guarded(*session, "registered host memory", 0, [&] {
      session->memory()->noteRegistered(pointer, bytes);
      return 0;
    });
  return status;
}

int watchUnregister(void* pointer, const Next& next) noexcept {
  const CallGuard guard;
  const int status = next();
  if (Session* session = guard.session(); session && status == 0)
    guarded(*session, "registered host memory", 0, [&] {
      session->memory()->forgetRegistered(pointer);
      return 0;
    });
  return status;
}

int serveReset(const Next& next) noexcept {
  const CallGuard guard;
  Session* session = guard.session();
  if (!session)
    return next();
  const Vendor* vendor = session->vendor();
  if (vendor)
    vendor->deviceSynchronize();
  guarded(*session, "a device reset", 0, [&] {
    for (const Allocation& gone : session->memory()->reset(currentDevice(*session)))
      if (!gone.isRegistered && vendor && vendor->disown)
        vendor->disown(reinterpret_cast<const void*>(gone.address));
    return 0;
  });
  return next();
}

bool isServed(const void* pointer) noexcept {
  Session* session = Session::existing();
  return session && session->memory() && session->memory()->findExact(pointer).has_value();
}

bool pitchedSize(size_t width, size_t height, size_t depth, size_t pitchBytes, size_t& rowBytes,
                 size_t& bytes) noexcept {
  size_t rows = 0;
  return !__builtin_add_overflow(width, pitchBytes - 1, &rowBytes) &&
         (rowBytes = rowBytes / pitchBytes * pitchBytes) != 0 &&
         !__builtin_mul_overflow(height, depth, &rows) &&
         !__builtin_mul_overflow(rowBytes, rows, &bytes) && bytes != 0;
}

} // namespace mneme::record
