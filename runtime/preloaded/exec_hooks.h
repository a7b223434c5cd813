// Room preloaded: what a library does when the program is replaced by another.
#pragma once

namespace mneme::preloaded {

/// Both may be called in signal handlers and in children of vfork().
struct ReplacementHooks {
  /// Before exec*() is tried on something that may be a program. Returns whether `failed` is
  /// wanted.
  bool (*before)() noexcept = nullptr;
  /// It failed: the program goes on.
  void (*failed)() noexcept = nullptr;
};

/// Called while the library is loaded, before any thread may replace the program.
void setReplacementHooks(ReplacementHooks hooks) noexcept;

} // namespace mneme::preloaded
