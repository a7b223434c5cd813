// Room cpu_runtime: attribute of the functions that programs call.
#pragma once

/// Put before the definition: C linkage name, visible to the dynamic linker. Those of core/ are
/// named gpu*, which no library exports: aliases.ld of each has the vendor's names of them.
#define MNEME_RUNTIME_API extern "C" [[gnu::visibility("default")]]
