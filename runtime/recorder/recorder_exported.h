// Room recorder: functions of librecord that take the place of others in the process.
#pragma once

#define MNEME_RECORD_API extern "C" [[gnu::visibility("default")]]
