// Room record: small things the session's sources share.
#pragma once

#include <chrono>
#include <cstdint>

namespace mneme::record {

/// True while this thread is in a call the recorder has taken over: what the vendor's runtime calls
/// from there is not the application's doing.
inline thread_local bool isInsideCall = false;

/// Marks the recorder's own calls of the vendor.
class InsideCall {
public:
  InsideCall() noexcept { isInsideCall = true; }
  ~InsideCall() { isInsideCall = false; }
  InsideCall(const InsideCall&) = delete;
  InsideCall& operator=(const InsideCall&) = delete;
};

inline uint64_t nowNs() noexcept {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

} // namespace mneme::record
