// Room emulator/runtimes: what the file of an executable or a library says about a static CUDA
// runtime inside of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <elf.h>

namespace mneme::cpu_runtime::cuda {

/// A function that a program calls by this name.
struct RuntimeFunction {
  std::string name;
  uint64_t start; ///< as the file has it: the loader adds the object's base
  uint64_t bytes; ///< in which no other function begins
  /// What it begins with: zeros where the file ends.
  std::array<std::byte, 16> code{};
};

struct StaticRuntimeFile {
  /// The program headers; none if the file cannot be read.
  std::vector<Elf64_Phdr> segments;
  bool hasDeviceCode = false;
  bool hasSymbols = false; ///< was not stripped
  int toolkit = 0;         ///< the release of CUDA that the runtime is of, 12 or 13; 0: another
  /// None if there is no such runtime in it.
  std::vector<RuntimeFunction> functions;
};

/// A file that cannot be read has nothing. \throws std::bad_alloc
StaticRuntimeFile readStaticRuntime(const std::string& path);

} // namespace mneme::cpu_runtime::cuda
