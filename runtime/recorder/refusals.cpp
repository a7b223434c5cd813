#include "runtime/recorder/refusals.h"

namespace mneme::record {
namespace {

struct Refusal {
  int status = 0;  ///< 0: nothing was refused since the program asked
  int vendors = 0; ///< the vendor's last error at that time: another one is newer
};
thread_local constinit Refusal lastRefusal;

} // namespace

int refuse(int status, const GraphFunctions& functions) noexcept {
  if (functions.peekAtLastError && status != 0)
    lastRefusal = {status, functions.peekAtLastError()};
  return status;
}

int lastErrorOr(int vendors, bool isTaken) noexcept {
  if (lastRefusal.status == 0)
    return vendors;
  const int last = vendors == lastRefusal.vendors ? lastRefusal.status : vendors;
  if (isTaken)
    lastRefusal = {};
  return last;
}

} // namespace mneme::record
