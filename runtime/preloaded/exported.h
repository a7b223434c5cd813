// Room preloaded: functions of preloaded libraries that take the place of libc's in the process.
#pragma once

#define MNEME_PRELOADED_API extern "C" [[gnu::visibility("default")]]
