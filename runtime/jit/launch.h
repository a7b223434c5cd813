// Room jit: who takes over launches at the moment.
#pragma once

#include "runtime/jit/exported_rt.h"

namespace mneme::rt {

/// Null when nobody does.
const mneme_hooks* hooks();

} // namespace mneme::rt
