// Room recorder: calls that the recorder refuses in the vendor's place. Vendors' runtimes keep such
// an error for the program to ask for; drivers do not.
#pragma once

#include "runtime/recorder/graph_functions.h"

namespace mneme::record {

/// Keeps the error for the calling thread, if `functions` are a runtime's. Returns it.
int refuse(int status, const GraphFunctions& functions) noexcept;

/// Returns the last error of the calling thread, of which the vendor says `vendors`; drops it if
/// `isTaken`.
int lastErrorOr(int vendors, bool isTaken) noexcept;

} // namespace mneme::record
