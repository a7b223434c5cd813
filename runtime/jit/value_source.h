// Room jit: finds the values that a kernel or function is compiled for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/core/abi/jit_mark.h"

namespace mneme::jit {

/// One argument whose value, or the memory it points to, becomes a constant.
class ValueSource {
public:
  /// The bytes of an argument, or of a member of it, themselves.
  ValueSource(const ArgPath& path, uint64_t sizeBytes) : mark_{}, offset_(path.offset) {
    mark_.argument = path.index;
    mark_.countArgument = -1;
    mark_.sizeBytes = sizeBytes;
    mark_.count = 1;
    mark_.flags = MNEME_JIT_MARK_BY_VALUE;
  }
  explicit ValueSource(const mneme_jit_mark& mark) : mark_(mark) {}

  uint32_t index() const noexcept { return mark_.argument; }
  bool isPointee() const noexcept { return (mark_.flags & MNEME_JIT_MARK_BY_VALUE) == 0; }
  /// Returns the address of the value; null if a pointer is null.
  const void* place(void** args) const noexcept;
  /// Returns 0 if a pointer is null or a count is not positive: there is nothing to read.
  size_t sizeBytes(void** args) const noexcept;
  /// Returns the number of elements of an array; only meaningful for arguments that point to
  /// content.
  int64_t count(void** args) const noexcept;

  /// Ends the program, as the reference tool does, if there are no elements, or elements that
  /// cannot become constants.
  void refuseNonsense(void** args) const;

  /// The value as the compiler takes it. \pre sizeBytes() is not 0
  ArgValue value(void** args) const;

private:
  mneme_jit_mark mark_;
  std::optional<uint32_t> offset_;
};

/// Returns the values of those `sources` that can be read, in their order.
std::vector<ArgValue> valuesOf(std::span<const ValueSource> sources, void** args);

} // namespace mneme::jit
