// Room core/preloaded: functions of preloaded libraries that replace those of libc in the process.
#pragma once

#define MNEME_PRELOADED_API extern "C" [[gnu::visibility("default")]]
