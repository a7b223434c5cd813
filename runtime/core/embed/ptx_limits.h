// Room core/embed: limits that PTX states of a kernel, and that can be changed without IR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mneme::embed {

/// Returns the text with a limit of registers for each thread of the kernel (`.maxnreg`), in place
/// of one that is there. \throws Error{ArtifactCorrupt} if the text defines no such kernel
std::vector<std::byte> withRegisterLimit(const std::vector<std::byte>& ptx,
                                         const std::string& kernel, uint32_t registers);

} // namespace mneme::embed
