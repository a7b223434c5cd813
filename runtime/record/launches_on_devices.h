// Room record: launches on several devices by one call of the program, for every vendor alike. The
// vendor's own function is given as `together`, as in served_memory.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/record/loaded_code.h"

namespace mneme::record {

/// The vendor's call for one of its launches alone. Refers to the callable, which must outlive it.
class NextOf {
public:
  template <typename Call>
  NextOf(const Call& call) noexcept // implicit: stands for the callable
      : object_(&call), call_([](const void* object, size_t index) {
          return (*static_cast<const Call*>(object))(index);
        }) {}
  int operator()(size_t index) const { return call_(object_, index); }

private:
  const void* object_;
  int (*call_)(const void*, size_t);
};

/// Flags of such a call: no launch waits for work of the other streams; later work of a stream
/// waits for the launch on it alone.
inline constexpr unsigned kNoWaitBefore = 1, kNoWaitAfter = 2;

/// The call, as far as vendors have it alike: no two launches on one device, all on streams that
/// are no default ones.
struct CallOnDevices {
  /// One of the launches; not called for more than there are devices.
  LoadedLaunch (*read)(const void* launches, size_t index) = nullptr;
  const void* launches = nullptr;
  int64_t count = 0;
  unsigned flags = 0;
  const char* whyUnknown = ""; ///< the note about a kernel whose code is not known
  bool isCooperative = false;
  bool mustMatch = false; ///< kernels and dimensions that differ are an error
};

/// Records the launches it is time to record, each as a launch of its own: they are made one after
/// the other then. Where none is to be recorded the call is made as the program wrote it, and so
/// are those that the vendor refuses.
int launchOnDevices(const CallOnDevices& call, const Next& together, const NextOf& alone);

} // namespace mneme::record
