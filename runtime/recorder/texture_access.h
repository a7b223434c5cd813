// Room recorder: what the recorder asks a vendor about texture and surface objects.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/core/abi/texture_object.h"
#include "runtime/recorder/live_textures.h"
#include "runtime/recorder/work_place.h"

namespace mneme::record {

/// What the program says of a new object, in the vendor's structures.
struct TextureWords {
  const void* array = nullptr; ///< what it shows, null for plain memory
  const void* sampler = nullptr;
  const void* view = nullptr;
};

/// Thread-safe. The context of the objects is current.
class TextureAccess {
public:
  virtual ~TextureAccess() = default;

  /// Returns where the calling thread works. Asks the driver alone, since a runtime may be what
  /// calls.
  virtual std::optional<WorkPlace> place() const noexcept = 0;

  /// Reads what the program says of a new texture, in the vendor's structures. Null: nothing.
  virtual std::optional<TextureSampler> samplerOf(const void* description) const noexcept = 0;
  virtual std::optional<TextureView> viewOf(const void* description) const noexcept = 0;

  /// An object that exists, and the array behind it.
  struct Found {
    TextureObject object; ///< of an array, without its memory
    const void* array = nullptr;
  };
  /// \throws Error{Unsupported} for an object that a recording cannot hold, saying why
  virtual Found describe(const LiveTextures::Object& object) const = 0;

  /// Takes device memory in the current context, which nobody places. Null if there is none.
  virtual void* allocate(uint64_t sizeBytes) const noexcept = 0;
  virtual void free(void* memory) const noexcept = 0;

  /// Copies all of an array to device memory, as partsOf() says; complete on return. \throws Error
  virtual void fetch(const Found& found, uint64_t memory) const = 0;
};

} // namespace mneme::record
