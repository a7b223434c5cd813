// Room recorder: the texture and surface objects of a launch while it is recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/recorder/device_memory.h"
#include "runtime/recorder/live_textures.h"
#include "runtime/recorder/texture_access.h"

namespace mneme::record {

/// The content of arrays lies in device memory as long as this lives, where it is captured like any
/// other: in the window's, or in contexts of the program's own in such of the vendor's. These are
/// current whenever it is used.
class LaunchTextures {
public:
  /// Both must outlive it. `access` may be null.
  LaunchTextures(Memory& memory, const TextureAccess* access, const WorkPlace& place)
      : memory_(memory), access_(access), place_(place) {}
  LaunchTextures(const LaunchTextures&) = delete;
  LaunchTextures& operator=(const LaunchTextures&) = delete;
  ~LaunchTextures();

  /// Takes all of these objects, or none. Returns why none; empty if they were taken.
  /// Those that no argument names are left out if the plain memory that they show was freed.
  std::string take(const std::vector<LiveTextures::Object>& objects, bool areNamed = true);
  /// Takes objects that the launch hardly sees, as long as they are not many and what they show is
  /// small. Returns how many it did not take.
  size_t takeIfSmall(const std::vector<LiveTextures::Object>& objects, size_t most);
  /// Leaves what nobody may free any more, since work goes on, or the device has failed.
  void abandon() noexcept { isAbandoned_ = true; }
  /// Brings the content of the arrays to memory, as it is now. \throws Error
  void fetch();

  std::vector<TextureObject> descriptions() const;

private:
  struct Taken {
    TextureAccess::Found found;
    bool ownsMemory = false; ///< and does not share that of another object
  };
  uint64_t take(const LiveTextures::Object& object, uint64_t mostBytes, bool isNamed);
  void placeArray(Taken& taken, uint64_t mostBytes);
  void* place(uint64_t sizeBytes);
  void release(void* memory) noexcept;
  void drop(size_t count) noexcept;

  Memory& memory_;
  const TextureAccess* access_;
  const WorkPlace place_;
  bool isAbandoned_ = false;
  std::vector<Taken> taken_;
};

} // namespace mneme::record
