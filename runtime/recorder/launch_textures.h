// Room recorder: the texture and surface objects of a launch while it is recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/recorder/device_memory.h"
#include "runtime/recorder/live_textures.h"
#include "runtime/recorder/texture_access.h"

namespace mneme::record {

/// The content of arrays lies in memory of the window as long as this lives, where it is captured
/// like any other.
class LaunchTextures {
public:
  /// Both must outlive it. `access` may be null.
  LaunchTextures(Memory& memory, const TextureAccess* access, unsigned device)
      : memory_(memory), access_(access), device_(device) {}
  LaunchTextures(const LaunchTextures&) = delete;
  LaunchTextures& operator=(const LaunchTextures&) = delete;
  ~LaunchTextures();

  /// Takes all of these objects, or none. Returns why none; empty if they were taken.
  std::string take(const std::vector<LiveTextures::Object>& objects);
  /// Brings the content of the arrays to memory, as it is now. \throws Error
  void fetch();

  std::vector<TextureObject> descriptions() const;

private:
  struct Taken {
    TextureAccess::Found found;
    bool ownsMemory = false; ///< and does not share that of another object
  };
  void placeArray(Taken& taken);
  void drop(size_t count);

  Memory& memory_;
  const TextureAccess* access_;
  const unsigned device_;
  std::vector<Taken> taken_;
};

} // namespace mneme::record
