// Room nvcc: headers of CUDA that a program includes and its toolkit lacks.
#pragma once

#include <string>
#include <string_view>

#include "runtime/nvcc/toolkit.h"

namespace mneme::nvcc {

/// The header that clang did not find, as its messages say; empty where it found all.
std::string missingHeader(std::string_view messages);

/// A sentence that says where the header comes from; empty where it is none that we know.
std::string sourceOfHeader(const std::string& header, const Toolkit& toolkit);

} // namespace mneme::nvcc
