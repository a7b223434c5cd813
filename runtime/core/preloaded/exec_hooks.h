// Room core/preloaded: lets a library react when the program is replaced by another (exec).
#pragma once

namespace mneme::preloaded {

/// Both may be called in signal handlers and in children of vfork().
struct ReplacementHooks {
  /// Called before exec*() is tried on something that may be a program. Returns whether to call
  /// `failed`.
  bool (*before)() noexcept = nullptr;
  /// Called if it failed and the program continues.
  void (*failed)() noexcept = nullptr;
};

/// Called while the library is loaded, before any thread may replace the program.
void setReplacementHooks(ReplacementHooks hooks) noexcept;

} // namespace mneme::preloaded
