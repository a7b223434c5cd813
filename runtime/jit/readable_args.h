// Room jit: arguments of a launch in a form in which the host can read what they point to.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/jit/backend.h"
#include "runtime/jit/value_source.h"

namespace mneme::jit {

/// The arguments of one launch of a kernel whose arrays or objects become constants. Their content
/// may lie in memory that only the device reads: it is copied. What cannot be copied now has a null
/// pointer here, which is no value. Costs no memory where the host can read everything.
class ReadableArgs {
public:
  /// `args` of the launch, `count` of them, stay the caller's. Throws nothing.
  ReadableArgs(Backend& backend, std::span<const ValueSource> sources, void** args,
               size_t count) noexcept;
  ReadableArgs(const ReadableArgs&) = delete;
  ReadableArgs& operator=(const ReadableArgs&) = delete;

  /// What stands in place of the launch's own; null without memory for them.
  void** get() noexcept { return args_; }

private:
  void replace(Backend& backend, const ValueSource& source, void** args, size_t count);

  void** args_;
  std::vector<void*> own_;            ///< empty: the launch's own
  std::vector<const void*> pointers_; ///< what entries of own_ point to
  std::vector<std::vector<std::byte>> copies_;
};

} // namespace mneme::jit
