// Room emulator/lowering: the places at which lanes of a warp meet, as calls that say all about
// them. Internal.
#pragma once

#include <optional>

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "runtime/emulator/lowering/steps.h"

namespace mneme::compile::cpu {

/// How many calls of warps' services there are in `module`; nothing if one is not in `kernel` or
/// does not say what is to be done.
std::optional<unsigned> countWarpServices(llvm::Module& module, const llvm::Function& kernel);

/// Puts a call of a function that returns {i32 result, i32 flag} in the place of each call of a
/// warp's service; its operands are those of a mneme_cpu_meeting.
void makeWarpMeetings(llvm::Function& body);
/// Whether this is such a call.
bool isWarpMeeting(const llvm::CallInst& call);
/// What it is, but for operands that lanes bring.
mneme_cpu_meeting describeMeeting(const llvm::CallInst& call);
/// Whether anybody asks for its flag.
bool hasFlag(const llvm::CallInst& call);
/// What lanes bring to the field of the meeting; null where it says that itself.
llvm::Value* broughtOperand(const llvm::CallInst& call, unsigned field);

} // namespace mneme::compile::cpu
