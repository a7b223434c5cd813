// Room record: what can be told about the program itself.
#pragma once

#include "runtime/record/vendor.h"

namespace mneme::record {

/// Whether the vendor function a launch was compiled against lies in the program (or one of its
/// libraries) instead of in a shared vendor runtime.
bool isRuntimeLinkedStatically(const void* vendorEntry, const Vendor* vendor) noexcept;

/// Whether the executable holds device code, judging by its sections.
bool executableHoldsDeviceCode() noexcept;

} // namespace mneme::record
