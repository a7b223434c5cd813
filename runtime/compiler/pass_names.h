// Room compiler: lists the passes that LLVM knows.
#pragma once

#include <string>

namespace mneme::compile {

/// JSON, as mneme_compile_pass_names().
std::string passNames();

} // namespace mneme::compile
