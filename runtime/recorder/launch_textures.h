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
  /// Takes objects that the launch hardly sees, as long as such are not more than `most`, and what
  /// they show is small, all calls together. Returns how many it did not take.
  size_t takeIfSmall(const std::vector<LiveTextures::Object>& objects, size_t most);
  /// Leaves what nobody may free any more, since work goes on, or the device has failed.
  void abandon() noexcept { isAbandoned_ = true; }
  /// Others than these have ended since they were taken: nobody reads their arrays any more.
  void noteLive(const std::vector<LiveTextures::Object>& live);
  /// Brings the content of the arrays to memory, as it is now; of arrays that no object shows any
  /// more it stays as it was. \throws Error
  void fetch();

  std::vector<TextureObject> descriptions() const;

private:
  struct Taken {
    TextureAccess::Found found;
    uint64_t number = 0;
    bool ownsMemory = false; ///< and does not share that of another object
    bool isGone = false;
  };
  /// What a launch hardly reads is recorded up to this size, together.
  static constexpr uint64_t kSmallBytes = uint64_t{64} << 20;

  bool isTaken(const LiveTextures::Object& object) const;
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
  size_t unnamed_ = 0;                    ///< taken so far by takeIfSmall()
  uint64_t smallBytesLeft_ = kSmallBytes; ///< for these
};

} // namespace mneme::record
