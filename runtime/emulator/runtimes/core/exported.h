// Room emulator/runtimes: the attribute of the functions that programs call.
#pragma once

/// Goes before a definition: gives it C linkage and makes it visible to the dynamic linker. The
/// functions of core/ are named gpu*, which no library exports; each library's aliases.ld maps the
/// vendor's names to them.
#define MNEME_RUNTIME_API extern "C" [[gnu::visibility("default")]]
