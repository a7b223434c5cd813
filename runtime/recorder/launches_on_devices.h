// Room recorder: launches on several devices by one call of the program, for all vendors. The
// vendor's own function is given as `together`, as in served_memory.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/recorder/loaded_code.h"

namespace mneme::record {

/// The vendor's call for a single one of the launches. Refers to the callable, which must outlive
/// it.
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

/// Flags of such a call: launches do not wait for work of the other streams; later work of a stream
/// waits only for the launch on that stream.
inline constexpr unsigned kNoWaitBefore = 1, kNoWaitAfter = 2;

/// The parts of the call that vendors share: at most one launch per device, none on a default
/// stream.
struct CallOnDevices {
  /// Reads one of the launches. Not called for indices beyond the number of devices.
  LoadedLaunch (*read)(const void* launches, size_t index) = nullptr;
  const void* launches = nullptr;
  int64_t count = 0;
  unsigned flags = 0;
  const char* whyUnknown = ""; ///< the note about a kernel whose code is not known
  bool isCooperative = false;
  bool mustMatch = false; ///< whether different kernels or dimensions are an error
};

/// Records the launches that are due, each as a separate launch: they then run one after the other.
/// If none is due, or if the vendor refuses the call, the call is made as the program wrote it.
int launchOnDevices(const CallOnDevices& call, const Next& together, const NextOf& alone);

} // namespace mneme::record
