// Room compiler: compiled code that a site provides to its users: read-only directories that `mneme
// cache export` has filled. Needs no LLVM.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/core/base/hash.h"

namespace mneme::compile {

/// Returns the entry `<key>.mnemec` from the first directory that has it. Directories and files
/// must belong to this user or to root, and others must not be able to write to them. Unusable ones
/// are skipped; the first problem in a process is reported. Never throws for file problems.
std::optional<Result> loadFromSite(const std::vector<std::filesystem::path>& directories,
                                   const Hash128& key);

} // namespace mneme::compile
