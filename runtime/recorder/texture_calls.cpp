#include "runtime/recorder/texture_calls.h"

#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

/// Also inside of other calls: a runtime makes objects by the driver's functions. Call it after the
/// guard is made.
Session* activeSession() noexcept {
  Session* session = Session::existing();
  return session && session->isActive() ? session : nullptr;
}

} // namespace

int watchTexture(const uint64_t* handle, bool isSurface, const TextureWords& words,
                 const Next& next) {
  const CallGuard guard;
  const int status = next();
  if (Session* session = status == 0 && handle ? activeSession() : nullptr)
    session->textureMade(*handle, isSurface, words);
  return status;
}

int watchArrayPart(void* const* part, const void* whole, std::optional<uint32_t> level,
                   const Next& next) {
  const CallGuard guard;
  const int status = next();
  if (Session* session = status == 0 && part ? activeSession() : nullptr)
    session->arrayPartMade(*part, whole, level);
  return status;
}

int watchTextureEnd(uint64_t handle, bool isSurface, const Next& next) {
  const CallGuard guard; // what is recorded does not change meanwhile
  if (Session* session = activeSession())
    session->textureDestroyed(handle, isSurface);
  return next();
}

int watchArrayEnd(const void* array, const Next& next) {
  const CallGuard guard;
  if (Session* session = activeSession())
    session->arrayDestroyed(array);
  return next();
}

} // namespace mneme::record
