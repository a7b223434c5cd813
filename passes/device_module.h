// Room passes: what a device module holds. Looks only, changes nothing.
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

/// True for a kernel: by calling convention, or by `nvvm.annotations` (LLVM 19).
bool isKernel(const llvm::Function& function);

/// Of the device libraries that come with the toolkits.
bool isLibraryFunction(const llvm::Function& function);

/// Defined kernels, in module order.
llvm::SmallVector<llvm::Function*> findKernels(llvm::Module& module);

/// Value of an integer annotation of `nvvm.annotations`, e.g. "maxntidx".
std::optional<uint64_t> nvvmAnnotation(const llvm::Function& function, llvm::StringRef name);

/// Address spaces both vendors share.
inline constexpr unsigned kGenericSpace = 0;
inline constexpr unsigned kGlobalSpace = 1;
inline constexpr unsigned kSharedSpace = 3;
inline constexpr unsigned kConstantSpace = 4;

/// A variable that lives in device memory for the whole run of the program and that the host or
/// another kernel may change, or whose place and content mean something to them (vtables, tables of
/// functions): the closure of a kernel refers to it and never owns a copy.
bool isDeviceGlobal(const llvm::GlobalVariable& variable);

/// Whether a variable starts with addresses of functions in it, or leads to one that does.
bool holdsFunctions(const llvm::GlobalVariable& variable);

/// Whether the unit itself never writes to a variable, nor lets its address out.
bool isNeverWritten(const llvm::GlobalVariable& variable);

/// `name` with what PTX does not allow in names replaced.
std::string validIdentifier(llvm::StringRef name);

/// `name` without what clang and we append to make names of internal entities unique
/// (`__intern__<hex>`, `__static__<hex>`, `__mneme_<hex>`): the part that depends on the place of
/// the source file.
std::string withoutUniqueSuffix(llvm::StringRef name);

} // namespace mneme::passes
