// What GPUs offer to a thread of a kernel, for FuncBase::callBuiltin().
#pragma once

#include "proteus/Frontend/FuncBase.h"

namespace proteus {
namespace builtins {
namespace gpu {

namespace detail {

inline Var<unsigned> index(FuncBase& Fn, GpuIndex What, unsigned Dimension) {
  CodeBuilder& Builder = Fn.getCodeBuilder();
  IRValue* Value = Builder.createGpuIndex(What, Dimension);
  return proteus::detail::makeVar<unsigned>(Builder, Value, "index");
}

} // namespace detail

inline Var<unsigned> getThreadIdX(FuncBase& Fn) { return detail::index(Fn, GpuIndex::ThreadId, 0); }
inline Var<unsigned> getThreadIdY(FuncBase& Fn) { return detail::index(Fn, GpuIndex::ThreadId, 1); }
inline Var<unsigned> getThreadIdZ(FuncBase& Fn) { return detail::index(Fn, GpuIndex::ThreadId, 2); }
inline Var<unsigned> getBlockIdX(FuncBase& Fn) { return detail::index(Fn, GpuIndex::BlockId, 0); }
inline Var<unsigned> getBlockIdY(FuncBase& Fn) { return detail::index(Fn, GpuIndex::BlockId, 1); }
inline Var<unsigned> getBlockIdZ(FuncBase& Fn) { return detail::index(Fn, GpuIndex::BlockId, 2); }
inline Var<unsigned> getBlockDimX(FuncBase& Fn) { return detail::index(Fn, GpuIndex::BlockDim, 0); }
inline Var<unsigned> getBlockDimY(FuncBase& Fn) { return detail::index(Fn, GpuIndex::BlockDim, 1); }
inline Var<unsigned> getBlockDimZ(FuncBase& Fn) { return detail::index(Fn, GpuIndex::BlockDim, 2); }
inline Var<unsigned> getGridDimX(FuncBase& Fn) { return detail::index(Fn, GpuIndex::GridDim, 0); }
inline Var<unsigned> getGridDimY(FuncBase& Fn) { return detail::index(Fn, GpuIndex::GridDim, 1); }
inline Var<unsigned> getGridDimZ(FuncBase& Fn) { return detail::index(Fn, GpuIndex::GridDim, 2); }

/// All threads of the block wait for each other.
inline void syncThreads(FuncBase& Fn) { Fn.getCodeBuilder().createSyncThreads(); }

} // namespace gpu
} // namespace builtins
} // namespace proteus
