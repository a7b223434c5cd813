// Room ir: constants that LLVM takes for local memory of an NVIDIA GPU.
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace mneme::ir {

/// Gives kernels for NVIDIA GPUs a copy in local memory of each constant that their code reads
/// there. From LLVM 20 on `infer-address-spaces` takes all of an alloca for local memory
/// (https://github.com/llvm/llvm-project/pull/121710). Where it is a copy of a constant,
/// `instcombine` behind it puts the constant itself in its place, with a cast to local memory,
/// where it is not: an illegal access on the device. Pipelines that promote such arrays before have
/// nothing of the kind.
void copyConstantsReadAsLocal(llvm::Module& module);

} // namespace mneme::ir
