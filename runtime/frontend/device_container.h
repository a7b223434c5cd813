// Room frontend: the containers in which vendors' runtimes take device code.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mneme::frontend {

/// A fat binary (magic 0xBA55ED50) with one member: machine code, or PTX text. `arch`: 90.
std::vector<std::byte> fatBinaryWith(std::span<const std::byte> image, unsigned arch);

/// clang's bundle of code objects, with one for AMD GPUs
/// (https://clang.llvm.org/docs/ClangOffloadBundler.html).
std::vector<std::byte> bundleWith(std::span<const std::byte> image);

} // namespace mneme::frontend
