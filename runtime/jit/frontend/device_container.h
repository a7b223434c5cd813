// Room jit/frontend: the containers in which vendors' runtimes take device code.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mneme::frontend {

/// Makes a fat binary (magic 0xBA55ED50) with one member: machine code, or PTX text. `arch`: 90.
std::vector<std::byte> fatBinaryWith(std::span<const std::byte> image, unsigned arch);

/// Makes clang's bundle of code objects, with one for the AMD GPU of this target ID
/// (https://clang.llvm.org/docs/ClangOffloadBundler.html).
std::vector<std::byte> bundleWith(std::span<const std::byte> image, const std::string& targetId);

/// Returns the names of the kernels in machine code for NVIDIA GPUs: each has a section for its
/// parameters (https://docs.nvidia.com/cuda/cuda-binary-utilities). Empty for anything else.
std::vector<std::string> kernelsInCubin(std::span<const std::byte> image);

} // namespace mneme::frontend
