// Room nvcc: what the inputs of a command line are.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mneme::nvcc {

enum class Kind {
  Cuda,
  Cxx,
  C,
  Ptx,
  Source,  ///< preprocessed, or for the assembler: clang knows by its name
  Linked,  ///< an object, a library, or anything else for the linker
  Refused, ///< what nvcc alone reads
};

/// \param language  of -x, or empty
Kind kindOf(const std::filesystem::path& input, std::string_view language);

/// Whether one of these objects and archives has device code that is not linked yet. What is not
/// there counts as having none: clang names it.
bool haveRelocatableCode(const std::vector<std::filesystem::path>& files);

/// lib<name>.a of the first of these directories that has it or a shared library of this name;
/// empty if there is no archive.
std::filesystem::path archiveOf(const std::string& name,
                                const std::vector<std::filesystem::path>& directories);

} // namespace mneme::nvcc
