// Room core/base: compiled into libraries that are preloaded into a program, so that their settings
// are those the program was started with.
#include "runtime/core/base/environment.h"

// Before the library's own constructors, which may ask.
[[gnu::constructor(101)]] static void keep() { mneme::keepEnvironment(); }
