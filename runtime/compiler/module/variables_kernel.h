// Room compiler: an image for variables of units that no kernel refers to.
#pragma once

namespace llvm {
class Module;
}

namespace mneme::compile {

/// Defines kVariablesKernel (abi/variable_names.h), which refers to every variable in device and
/// constant memory that other modules can name.
void addVariablesKernel(llvm::Module& module);

} // namespace mneme::compile
