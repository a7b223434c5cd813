// Room passes: queries about the contents of a device module. Changes nothing.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <optional>
#include <string>

namespace mneme::passes {

/// True for nvptx64 and amdgcn modules.
bool isDeviceModule(const llvm::Module& module);

/// True for a kernel, recognised by its calling convention or by `nvvm.annotations` (LLVM 19).
bool isKernel(const llvm::Function& function);

/// Returns whether the function comes from a toolkit's device library.
bool isLibraryFunction(const llvm::Function& function);

/// Returns the defined kernels, in module order.
llvm::SmallVector<llvm::Function*> findKernels(llvm::Module& module);

/// Returns the value of an integer annotation in `nvvm.annotations`, such as "maxntidx".
std::optional<uint64_t> nvvmAnnotation(const llvm::Function& function, llvm::StringRef name);

/// Address spaces that both vendors share.
inline constexpr unsigned kGenericSpace = 0;
inline constexpr unsigned kGlobalSpace = 1;
inline constexpr unsigned kSharedSpace = 3;
inline constexpr unsigned kConstantSpace = 4;

/// Returns whether a kernel's closure must refer to the program's variable instead of owning a
/// copy. That holds for a variable in device memory that lives as long as the program and that the
/// host or another kernel may change, or whose address and content matter to them (vtables, tables
/// of functions).
bool isDeviceGlobal(const llvm::GlobalVariable& variable);

/// Returns whether the variable's initial value holds addresses of functions, directly or through
/// other variables.
bool holdsFunctions(const llvm::GlobalVariable& variable);

/// Returns whether the unit neither writes to the variable nor lets its address escape.
bool isNeverWritten(const llvm::GlobalVariable& variable);

/// Returns `name` with the characters replaced that PTX does not allow in names.
std::string validIdentifier(llvm::StringRef name);

/// Returns `name` without the suffix that clang and mneme append to make internal names unique
/// (`__intern__<hex>`, `__static__<hex>`, `__mneme_<hex>`). The suffix depends on the path of the
/// source file.
std::string withoutUniqueSuffix(llvm::StringRef name);

/// Returns the demangled name of a kernel, without unique suffixes.
std::string readableName(llvm::StringRef kernel);

} // namespace mneme::passes
