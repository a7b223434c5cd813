// Room emulator/lowering: barrier objects in shared memory (PTX mbarrier).
#pragma once

#include "runtime/emulator/lowering/emit.h"

namespace mneme::compile::cpu {

// The 64-bit object: bits 0..19 threads expected per phase, bits 20..39 threads still awaited, bits
// 40..60 bytes announced and still awaited, bits 61..63 number of the phase: threads wait for the
// current phase or the previous one. All threads of a block run on one host thread and switch only
// in calls of the runtime, so plain (but volatile) accesses are enough.

void mbarrierInit(Emit& e, llvm::Value* object, llvm::Value* count);
/// Returns the object's state before the arrival, which is the token to wait with. `drops` excludes
/// the thread from later phases.
llvm::Value* mbarrierArrive(Emit& e, llvm::Value* object, llvm::Value* count, bool drops);
/// Adds `bytes` that asynchronous copies must deliver before the phase ends.
void mbarrierExpectBytes(Emit& e, llvm::Value* object, llvm::Value* bytes);
void mbarrierCompleteBytes(Emit& e, llvm::Value* object, llvm::Value* bytes);
/// Returns an i1: whether the phase of `token` is complete.
llvm::Value* mbarrierTestWait(Emit& e, llvm::Value* object, llvm::Value* token);
/// Returns an i1: whether the phase with the given parity is complete.
llvm::Value* mbarrierTestParity(Emit& e, llvm::Value* object, llvm::Value* parity);
llvm::Value* mbarrierPendingCount(Emit& e, llvm::Value* token);

} // namespace mneme::compile::cpu
