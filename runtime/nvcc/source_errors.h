// Room nvcc: sentences on errors of clang in sources that nvcc compiles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mneme::nvcc {

/// A sentence on the first of clang's messages that is known to be a matter of clang; else empty.
std::string explainCode(std::string_view messages);

/// A sentence where a source asks for the macro __NVCC__ and compiles with it; else empty. `checks`
/// are the words of a command that writes nothing and prints errors; it is run again, and no more
/// than two times.
std::string explainMacro(const std::vector<std::string>& checks);

} // namespace mneme::nvcc
