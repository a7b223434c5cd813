// Room devices: texture and surface objects that a device made for replays.
#pragma once

#include <cstdint>
#include <vector>

namespace mneme::device {

/// Objects made of descriptions, with arrays of their own. Must not outlive their device; used as
/// that.
class TextureObjects {
public:
  virtual ~TextureObjects() = default;
  /// What kernels are given here, in the order of the descriptions: the recorded handles, if the
  /// device grants them.
  virtual const std::vector<uint64_t>& handles() const noexcept = 0;
  /// Brings the content of the arrays from where TextureObject::memory has it. Call it after memory
  /// was restored, before each launch; it is in order with both.
  /// \param isOther whether that memory may have other content than at the call before
  virtual void load(bool isOther) = 0;
  /// Brings the content of arrays that kernels can write back to that memory; complete on return.
  virtual void store() = 0;
};

} // namespace mneme::device
