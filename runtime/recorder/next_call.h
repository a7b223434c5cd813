// Room recorder: the vendor's function behind one of ours.
#pragma once

#include "runtime/core/base/cancellation.h"

namespace mneme::record {

/// A call of the vendor's function. Refers to the callable, which must outlive it.
class Next {
public:
  template <typename Call>
  Next(const Call& call) noexcept // implicit: stands for the callable
      : object_(&call),
        call_([](const void* object) { return (*static_cast<const Call*>(object))(); }) {}
  /// Throws nothing, except that a thread cancelled in the vendor's function is unwound through it.
  int operator()() const {
    const CancellationOfCaller asCaller;
    return call_(object_);
  }

private:
  const void* object_;
  int (*call_)(const void*);
};

} // namespace mneme::record
