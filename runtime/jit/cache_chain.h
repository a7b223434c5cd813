// Room jit: the levels of the cache on disk, in the words of the reference tool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/jit/jit_settings.h"

namespace mneme::jit {

/// "Storage".
const char* nameOf(CacheLevel::Kind kind) noexcept;

/// Returns the names of the levels for CacheReport: "StorageCache rank 0", "MPILocalLookup rank
/// 0/4".
std::vector<std::string> reportNames(const Settings& settings);

/// Returns the lines about levels that an engine prints when it starts; empty if there are no
/// levels.
std::string chainLines(const Settings& settings, const std::string& label);

/// Returns the line for code that was found in a level instead of being compiled.
std::string hitLine(const Settings& settings, size_t level, uint64_t hash);

} // namespace mneme::jit
