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

/// Returns the names of the kernels in machine code for NVIDIA GPUs: each has a section for its
/// parameters (https://docs.nvidia.com/cuda/cuda-binary-utilities). Empty for anything else.
std::vector<std::string> kernelsInCubin(std::span<const std::byte> image);

} // namespace mneme::frontend
