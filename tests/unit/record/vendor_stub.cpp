// The unit tests have no vendor runtime.
#include "runtime/record/vendor.h"

namespace mneme::record {

const Vendor* findVendor() noexcept { return nullptr; }

} // namespace mneme::record
