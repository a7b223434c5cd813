// Room cpu_runtime: attribute of the functions that this library exports.
#pragma once

/// Put before the definition: C linkage name, visible to the dynamic linker.
#define MNEME_CUDA_API extern "C" [[gnu::visibility("default")]]
