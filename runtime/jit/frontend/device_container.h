// Room jit/frontend: the containers in which vendors' runtimes take device code.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mneme::frontend {

/// Makes clang's bundle of code objects, with one for the AMD GPU of this target ID
/// (https://clang.llvm.org/docs/ClangOffloadBundler.html).
std::vector<std::byte> bundleWith(std::span<const std::byte> image, const std::string& targetId);

} // namespace mneme::frontend
