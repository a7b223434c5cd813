// Room compile: compiled code that a site keeps for all: directories which `mneme cache export` has
// filled, and which are read only. Holds no LLVM.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "runtime/base/hash.h"
#include "runtime/compile/service/client.h"

namespace mneme::compile {

/// The entry `<key>.mnemec` of the first directory that has it. Directories and files have to
/// belong to this user or to root, and nobody else may be able to write to them. What cannot be
/// used is passed over; the first problem of a process is said. Never throws for file problems.
std::optional<Result> loadFromSite(const std::vector<std::filesystem::path>& directories,
                                   const Hash128& key);

} // namespace mneme::compile
