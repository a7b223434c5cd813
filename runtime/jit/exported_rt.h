// Room jit: the C ABI, with its functions visible outside the library.
#pragma once

#pragma GCC visibility push(default)
#include "runtime/jit/mneme_rt.h" // IWYU pragma: export
#pragma GCC visibility pop
