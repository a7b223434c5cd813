// Room nvcc: the end of a device link. clang's linker wrapper links device code, makes an object
// that registers it, and starts a linker; `nvcc -dlink` makes that object alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mneme::nvcc {

/// Stands in for the linker: of its inputs it keeps the object that the wrapper made as the output;
/// without device code that is an object with nothing. Returns a program's exit status.
int keepDeviceCode(const std::vector<std::string>& linkerWords,
                   const std::filesystem::path& prefix);

} // namespace mneme::nvcc
