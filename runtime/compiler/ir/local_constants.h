// Room compiler/ir: works around LLVM mistaking constants for local memory of an NVIDIA GPU.
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace mneme::ir {

/// Gives kernels for NVIDIA GPUs a copy in local memory of each constant that their code reads
/// there. From LLVM 20 on `infer-address-spaces` treats every alloca as local memory
/// (https://github.com/llvm/llvm-project/pull/121710). If it is a copy of a constant, a later
/// `instcombine` replaces it by the constant itself, cast to local memory, where it is not: an
/// illegal access on the device. Pipelines that promote such arrays earlier are not affected.
void copyConstantsReadAsLocal(llvm::Module& module);

} // namespace mneme::ir
