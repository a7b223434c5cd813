// Room compile: an image for the variables of units that no kernel refers to. Holds no LLVM.
#pragma once

namespace llvm {
class Module;
}

namespace mneme::compile {

/// The kernel of a request for the CPU whose modules have none: an image of it is for reading
/// initial values from, not for launching.
inline constexpr char kVariablesKernel[] = "__mneme_variables";

/// Defines that kernel. It refers to every variable in device and constant memory that other
/// modules can name.
void addVariablesKernel(llvm::Module& module);

} // namespace mneme::compile
