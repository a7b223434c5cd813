#include "runtime/recorder/served_memory.h"

#include "runtime/core/base/sentence.h"
#include "runtime/recorder/open_captures.h"
#include "runtime/recorder/served_graph_memory.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

using artifact::RegionKind;

unsigned currentDevice(const Session& session) {
  return static_cast<unsigned>(session.backend().currentDevice());
}

/// Runs `action`; what it throws becomes a note, and `otherwise` the answer.
template <typename Action>
auto guarded(Session& session, const char* what, decltype(std::declval<Action>()()) otherwise,
             const Action& action) noexcept {
  try {
    return action();
  } catch (const std::exception& error) {
    session.note(sentence(what, " could not be followed: ", error.what()));
    return otherwise;
  }
}

/// A stream-ordered allocation's order and pool.
struct Ordered {
  void* stream;
  void* pool;
};

void* take(Session& session, size_t bytes, RegionKind kind, const Ordered* ordered) {
  Backend& backend = session.backend();
  // On a device that has failed the vendor's own function says so.
  // Contexts of the program's own are left their own memory, which ends with them.
  if (bytes == 0 || !session.isActive() || session.hasDeviceFailed() || !backend.canPlace(kind) ||
      session.leavesToVendor() || backend.currentPlace().context || !backend.prepareContext())
    return nullptr;
  Memory& memory = *session.memory();
  DeferredFrees& deferred = *session.deferredFrees();
  const unsigned device = currentDevice(session);
  deferred.collect();
  void* pool = ordered ? ordered->pool : nullptr;
  if (ordered)
    if (void* reused = deferred.reuse(bytes, device, ordered->stream, pool))
      return reused;
  void* served = memory.allocate(bytes, kind, device, pool);
  if (!served) {
    // Before the vendor is asked, and perhaps has to refuse: everything that can be had.
    deferred.waitFor(device);
    session.giveBackDeviceMemory();
    if (memory.hasRoom(bytes, device))
      served = memory.allocate(bytes, kind, device, pool);
  }
  if (served && backend.adopt(served, bytes, kind) != 0) {
    memory.release(served); // the vendor says in its own way that there is no more
    return nullptr;
  }
  return served;
}

int serveAny(void** pointer, size_t bytes, RegionKind kind, const Ordered* ordered,
             const Next& next) {
  const CallGuard guard;
  Session* session = guard.session();
  if (!session || !pointer)
    return next();
  // While something is captured the vendor may refuse to allocate: it is asked, whatever the mode.
  void* served = nullptr;
  if (!isCapturingAny())
    served = guarded(*session, "an allocation", static_cast<void*>(nullptr),
                     [&] { return take(*session, bytes, kind, ordered); });
  if (served) {
    *pointer = served;
    return 0;
  }
  const int status = next();
  if (status == 0 && *pointer && session->isActive())
    guarded(*session, "an allocation", 0, [&] {
      session->memory()->noteForeign(*pointer, bytes, kind, session->backend().currentPlace());
      return 0;
    });
  return status;
}

bool isOfKind(const Allocation& allocation, FreeKind kind) {
  return allocation.owner == Owner::Window &&
         (allocation.kind == RegionKind::HostPinned) == (kind == FreeKind::Host);
}

} // namespace

bool isCapturingGraph(Backend& backend, void* stream) noexcept {
  return stream && backend.capturing(stream) != Capturing::No;
}

int serve(void** pointer, size_t bytes, RegionKind kind, const Next& next) {
  return serveAny(pointer, bytes, kind, nullptr, next);
}

int serveOrdered(void** pointer, size_t bytes, void* stream, void* pool, FindGraphFunctions graphs,
                 const Next& next) {
  if (isCapturingGraph(findBackend(), stream))
    return graphs ? serveCapturedAlloc(pointer, bytes, stream, graphs(), next) : next();
  const Ordered ordered{stream, pool};
  return serveAny(pointer, bytes, RegionKind::Allocation, &ordered, next);
}

namespace {

/// Passes a free on and forgets what the vendor had served.
int freeForeign(Session& session, void* pointer, const Next& next) {
  const int status = next();
  if (status == 0)
    guarded(session, "a free", 0, [&] {
      session.memory()->forget(pointer);
      return 0;
    });
  return status;
}

std::optional<Allocation> findServed(Session& session, void* pointer, FreeKind kind) noexcept {
  const auto known = guarded(session, "a free", std::optional<Allocation>(),
                             [&] { return session.memory()->findExact(pointer); });
  return known && isOfKind(*known, kind) ? known : std::nullopt;
}

/// For a free while a graph is captured, when nothing may be waited for.
void leaveTaken(Session& session, void* pointer) noexcept {
  guarded(session, "a free", false, [&] { return session.memory()->detach(pointer).has_value(); });
  session.note("memory freed while a graph was captured stays taken until the device is reset");
}

} // namespace

int serveFree(void* pointer, FreeKind kind, const Next& next) {
  const CallGuard guard;
  Session* session = guard.session();
  if (!session || !pointer)
    return next();
  if (kind == FreeKind::Device)
    if (const auto status = freeGraphMemory(pointer, true))
      return *status;
  const auto known = findServed(*session, pointer, kind);
  if (!known)
    return freeForeign(*session, pointer, next);
  if (isCapturingAny()) {
    leaveTaken(*session, pointer);
    return 0;
  }
  Backend& backend = session->backend();
  const int status = backend.synchronizeDevice(known->device);
  backend.disown(pointer);
  guarded(*session, "a free", false, [&] { return session->memory()->release(pointer); });
  return status;
}

int serveFreeOrdered(void* pointer, void* stream, FindGraphFunctions graphs, const Next& next) {
  Backend& backend = findBackend();
  if (graphs && isCapturingGraph(backend, stream))
    return serveCapturedFree(pointer, stream, graphs(), next);
  if (!backend.hasMarks())
    return serveFree(pointer, FreeKind::Device, next);
  if (isCapturingGraph(backend, stream))
    return next(); // graphs free what graphs allocate
  const CallGuard guard;
  if (const auto status = guard.session() ? freeGraphMemory(pointer, false) : std::nullopt)
    return *status;
  Session* session = guard.session();
  if (!session || !pointer)
    return next();
  const auto known = findServed(*session, pointer, FreeKind::Device);
  if (!known)
    return freeForeign(*session, pointer, next);
  return guarded(*session, "a free", 0, [&] {
    const auto detached = session->memory()->detach(pointer);
    backend.disown(pointer);
    if (detached && !session->deferredFrees()->add(*detached, stream)) {
      if (isCapturingAny())
        return 0; // cannot wait now: the block stays taken
      backend.synchronizeDevice(detached->device);
      session->memory()->giveBack(*detached);
    }
    return 0;
  });
}

int watchRegister(void* pointer, size_t bytes, const Next& next) {
  const CallGuard guard;
  const int status = next();
  if (Session* session = guard.session(); session && status == 0)
    guarded(*session, "registered host memory", 0, [&] {
      session->memory()->noteRegistered(pointer, bytes, session->backend().currentPlace());
      return 0;
    });
  return status;
}

int watchUnregister(void* pointer, const Next& next) {
  const CallGuard guard;
  const int status = next();
  if (Session* session = guard.session(); session && status == 0)
    guarded(*session, "registered host memory", 0, [&] {
      session->memory()->forget(pointer);
      return 0;
    });
  return status;
}

int serveReset(const Next& next) {
  const CallGuard guard;
  Session* session = guard.session();
  if (!session)
    return next();
  Backend& backend = session->backend();
  backend.synchronize();
  guarded(*session, "a device reset", 0, [&] {
    const unsigned device = currentDevice(*session);
    session->forgetDevice(device);
    if (DeferredFrees* deferred = session->deferredFrees())
      deferred->forget(device);
    for (const Allocation& gone : session->memory()->reset(device))
      if (gone.owner == Owner::Window)
        backend.disown(reinterpret_cast<const void*>(gone.address));
    return 0;
  });
  session->setDeviceFailed(false);
  return next();
}

int watchContextEnd(void* context, const Next& next) {
  const CallGuard guard;
  Session* session = guard.session();
  if (!session || !context)
    return next();
  const std::vector<std::shared_ptr<const LoadedModule>> modules = session->contextEnds(context);
  const int status = next();
  session->contextEnded(context, status == 0, modules);
  return status;
}

/// Also inside of other calls: a runtime sets limits by the driver's function.
int watchLimit(int limit, const Next& next) {
  const CallGuard guard;
  const int status = next();
  if (Session* session = status == 0 ? Session::existing() : nullptr)
    session->limitSet(limit);
  return status;
}

int watchCacheConfig(const void* kernel, int config, std::optional<int> device, const Next& next) {
  const CallGuard guard;
  const int status = next();
  if (Session* session = status == 0 ? Session::existing() : nullptr)
    session->cacheConfigSet(kernel, cacheConfigOf(config), device);
  return status;
}

int watchPeerAccess(int owner, const Next& next) {
  const CallGuard guard;
  const int status = next();
  if (Session* session = guard.session(); session && status == 0 && owner >= 0)
    guarded(*session, "access to another device", 0, [&] {
      session->memory()->share(static_cast<unsigned>(owner), currentDevice(*session));
      return 0;
    });
  return status;
}

int serveFreeBytes(size_t* freeBytes, const Next& next) {
  const CallGuard guard;
  if (Session* session = guard.session())
    session->giveBackDeviceMemory();
  const int status = next();
  Session* session = guard.session();
  // The CPU device counts all memory of the program, served by us or not.
  if (session && status == 0 && freeBytes && !session->backend().isOwnRuntime())
    *freeBytes += guarded(*session, "free memory", uint64_t{0}, [&] {
      const unsigned device = currentDevice(*session);
      return session->memory()->excessBytes(device) + session->ownDeviceBytes(device);
    });
  return status;
}

int servePoolAttribute(void* pool, int attribute, void* value, const Next& next) {
  constexpr int kReservedNow = 5, kUsedAtMost = 8;
  const CallGuard guard;
  const int status = next();
  Session* session = guard.session();
  if (session && status == 0 && value && attribute >= kReservedNow && attribute <= kUsedAtMost)
    *static_cast<uint64_t*>(value) += guarded(*session, "memory of a pool", uint64_t{0},
                                              [&] { return session->memory()->poolBytes(pool); });
  return status;
}

int watchExport(const void* pointer, const Next& next) {
  const CallGuard guard;
  uint64_t base = 0;
  size_t bytes = 0;
  if (Session* session = guard.session(); session && servedRange(pointer, base, bytes)) {
    session->note("the program shares memory with another process, which is impossible for memory "
                  "placed for a recording; run it with MNEME_ALLOCATIONS=vendor");
    session->leaveToVendor(); // what comes now can be
  }
  return next();
}

int watchImport(void** pointer, size_t (*sizeOf)(const void* pointer), const Next& next) {
  const CallGuard guard;
  const int status = next();
  Session* session = guard.session();
  if (session && status == 0 && pointer && session->isActive())
    guarded(*session, "memory of another process", 0, [&] {
      if (const size_t bytes = sizeOf(*pointer); bytes > 0)
        session->memory()->noteImported(*pointer, bytes, session->backend().currentPlace());
      return 0;
    });
  return status;
}

int serveReservation(size_t bytes, size_t alignment,
                     const std::function<int(uint64_t place)>& reserve) {
  const CallGuard guard;
  Session* session = guard.session();
  const uint64_t place =
      session && session->isActive()
          ? guarded(*session, "reserved addresses", uint64_t{0},
                    [&] { return session->memory()->placeMapped(bytes, alignment); })
          : 0;
  const auto call = [&] { return reserve(place); };
  const int status = Next(call)();
  if (status == 0 || place == 0)
    return status;
  const auto callAgain = [&] { return reserve(0); };
  return Next(callAgain)();
}

int watchMapping(uint64_t address, size_t bytes, bool isReadable, const Next& next) {
  const CallGuard guard;
  const int status = next();
  Session* session = guard.session();
  if (session && status == 0 && session->isActive())
    guarded(*session, "mapped memory", 0, [&] {
      session->memory()->noteMapped(address, bytes, isReadable);
      return 0;
    });
  return status;
}

int watchUnmapping(uint64_t address, size_t bytes, const Next& next) {
  const CallGuard guard;
  const int status = next();
  if (Session* session = guard.session(); session && status == 0)
    guarded(*session, "mapped memory", 0, [&] {
      session->memory()->forgetMapped(address, bytes);
      return 0;
    });
  return status;
}

int watchTransfer(const Next& next) {
  const CallGuard guard; // what is recorded does not change meanwhile
  return next();
}

int watchCapture(const Next& next) {
  const CallGuard guard; // no recording is under way meanwhile
  const int status = next();
  if (status == 0)
    captureBegan();
  return status;
}

int watchUnrecorded(const char* what, const void* key, const Next& next) {
  const CallGuard guard;
  if (Session* session = guard.session(); session && session->isActive())
    session->noteOnce(what, key);
  return next();
}

int watchUnreadable(const char* why, const void* function, const Next& next) {
  const CallGuard guard;
  const int status = next();
  if (Session* session = guard.session(); session && session->isActive())
    session->noteKernelOnce(why, function);
  return status;
}

bool isServed(const void* pointer) noexcept {
  Session* session = Session::existing();
  return session && session->memory() && session->memory()->isServed(pointer);
}

bool servedRange(const void* inside, uint64_t& base, size_t& bytes) noexcept {
  Session* session = Session::existing();
  const auto found =
      session && session->memory() ? session->memory()->findServed(inside) : std::nullopt;
  if (!found)
    return false;
  base = found->address;
  bytes = found->sizeBytes;
  return true;
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
