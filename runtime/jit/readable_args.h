// Room jit: makes memory that a launch's arguments point to readable by the host.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/jit/jit_backend.h"
#include "runtime/jit/value_source.h"

namespace mneme::jit {

/// The arguments of one launch of a kernel whose arrays or objects become constants. Content that
/// only the device can read is copied. Pointers to content that cannot be copied now become null,
/// so they have no value. Allocates nothing where the host can read everything.
class ReadableArgs {
public:
  /// `args` are the `count` arguments of the launch; the caller keeps them. Throws nothing.
  ReadableArgs(Backend& backend, std::span<const ValueSource> sources, void** args,
               size_t count) noexcept;
  ReadableArgs(const ReadableArgs&) = delete;
  ReadableArgs& operator=(const ReadableArgs&) = delete;

  /// Returns the arguments to use instead of the launch's own; null if there is no memory for them.
  void** get() noexcept { return args_; }

private:
  void replace(Backend& backend, const ValueSource& source, void** args, size_t count);

  void** args_;
  std::vector<void*> own_;            ///< empty: the launch's own
  std::vector<const void*> pointers_; ///< what entries of own_ point to
  std::vector<std::vector<std::byte>> copies_;
};

} // namespace mneme::jit
