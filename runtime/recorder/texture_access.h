// Room recorder: what the recorder asks a vendor about texture and surface objects.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/core/abi/texture_object.h"

namespace mneme::record {

/// Thread-safe. The context of the objects is current.
class TextureAccess {
public:
  virtual ~TextureAccess() = default;

  /// Returns the device of the calling thread; nothing in a context of the program's own. Asks the
  /// driver alone, since a runtime may be what calls.
  virtual std::optional<unsigned> device() const noexcept = 0;

  /// An object that exists, and the array behind it.
  struct Found {
    TextureObject object; ///< of an array, without its memory
    const void* array = nullptr;
  };
  /// \throws Error{Unsupported} for an object that a recording cannot hold, saying why
  virtual Found describe(uint64_t handle, bool isSurface) const = 0;

  /// Copies all of an array to device memory, as partsOf() says; complete on return. \throws Error
  virtual void fetch(const Found& found, uint64_t memory) const = 0;
};

} // namespace mneme::record
