// Room compile/cpu: barrier objects in shared memory (PTX mbarrier).
#pragma once

#include "runtime/compile/cpu/emit.h"

namespace mneme::compile::cpu {

// The 64-bit object: bits 0..19 threads expected per phase, bits 20..39 threads still awaited, bits
// 40..60 bytes announced and still awaited, bits 61..63 number of the phase: whoever waits does so
// for the current one or the one before. All threads of a block run on one host thread and switch
// only in calls of the runtime, so plain (but volatile) accesses are enough.

void mbarrierInit(Emit& e, llvm::Value* object, llvm::Value* count);
/// Returns the object's state before the arrival: the token to wait with. `drops` leaves the thread
/// out of later phases.
llvm::Value* mbarrierArrive(Emit& e, llvm::Value* object, llvm::Value* count, bool drops);
/// `bytes` more that asynchronous copies have to bring before the phase ends.
void mbarrierExpectBytes(Emit& e, llvm::Value* object, llvm::Value* bytes);
void mbarrierCompleteBytes(Emit& e, llvm::Value* object, llvm::Value* bytes);
/// i1: the phase of `token` is complete.
llvm::Value* mbarrierTestWait(Emit& e, llvm::Value* object, llvm::Value* token);
/// i1: the phase with the given parity is complete.
llvm::Value* mbarrierTestParity(Emit& e, llvm::Value* object, llvm::Value* parity);
llvm::Value* mbarrierPendingCount(Emit& e, llvm::Value* token);

} // namespace mneme::compile::cpu
