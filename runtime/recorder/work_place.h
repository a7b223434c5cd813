// Room recorder: where a thread of the program works.
#pragma once

#include <compare>

namespace mneme::record {

/// A device, and one of its contexts.
struct WorkPlace {
  unsigned device = 0;
  /// A context that the program made itself. Null for the one that all else shares: the vendor's
  /// primary context, and green contexts, which have its memory.
  void* context = nullptr;

  WorkPlace() = default;
  WorkPlace(unsigned number, void* own = nullptr) noexcept // implicit: most have no contexts
      : device(number), context(own) {}
  auto operator<=>(const WorkPlace&) const = default;
};

} // namespace mneme::record
