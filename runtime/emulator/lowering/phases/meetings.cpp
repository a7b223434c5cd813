#include "runtime/emulator/lowering/phases/meetings.h"

#include <cstddef>

#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/meetings.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr const char* kMeeting = "mneme.meeting";
/// Its operands: kind, mode, site, then the fields that lanes bring.
constexpr unsigned kFirstField = 3;
constexpr unsigned kBrought[] = {MNEME_LANE_MASK, MNEME_LANE_VALUE, MNEME_LANE_HIGH,
                                 MNEME_LANE_OPERAND, MNEME_LANE_CLAMP};
static_assert(MNEME_LANE_CLAMP - MNEME_LANE_MASK + 1 == std::size(kBrought));

/// Where a service has an operand that must be a constant.
struct FixedOperand {
  size_t service;
  unsigned operand;
};
constexpr FixedOperand kFixed[] = {{offsetof(mneme_cpu_services, shuffle), 2},
                                   {offsetof(mneme_cpu_services, vote), 2},
                                   {offsetof(mneme_cpu_services, warp_reduce), 2},
                                   {offsetof(mneme_cpu_services, wave), 1},
                                   {offsetof(mneme_cpu_services, wave), 2}};

/// Replaces one call of a service.
class Replacement {
public:
  Replacement(CallInst& call, size_t service) : call_(call), service_(service), e_(call) {}

  void run() {
    switch (service_) {
    case offsetof(mneme_cpu_services, warp_sync):
      return replace(meet(MNEME_MEET_SYNC, none(), argument(1)));
    case offsetof(mneme_cpu_services, shuffle):
      return replace(meet(MNEME_MEET_SHUFFLE, argument(2), argument(1), argument(3), nullptr,
                          argument(4), argument(5)),
                     argument(6));
    case offsetof(mneme_cpu_services, vote):
      return replace(meet(MNEME_MEET_VOTE, argument(2), argument(1), argument(3)));
    case offsetof(mneme_cpu_services, match_any):
      return replace(meet(MNEME_MEET_MATCH_ANY, none(), argument(1), low(2), high(2)));
    case offsetof(mneme_cpu_services, match_all):
      return replace(meet(MNEME_MEET_MATCH_ALL, none(), argument(1), low(2), high(2)), argument(3));
    case offsetof(mneme_cpu_services, warp_reduce):
      return replace(meet(MNEME_MEET_REDUCE, argument(2), argument(1), argument(3)));
    case offsetof(mneme_cpu_services, active_mask):
      return replace(meet(MNEME_MEET_ACTIVE_MASK, none(), none()));
    default:
      site_ = argument(1);
      return replace(meet(MNEME_MEET_WAVE, argument(2), none(), low(3), high(3), argument(4)));
    }
  }

private:
  Value* argument(unsigned index) { return call_.getArgOperand(index); }
  Value* none() { return e_.getInt32(0); }
  Value* low(unsigned index) { return e_.CreateTrunc(argument(index), e_.i(32)); }
  Value* high(unsigned index) {
    return e_.CreateTrunc(e_.CreateLShr(argument(index), 32), e_.i(32));
  }
  CallInst* meet(unsigned kind, Value* mode, Value* mask, Value* value = nullptr,
                 Value* high = nullptr, Value* operand = nullptr, Value* clamp = nullptr) {
    const auto given = [&](Value* field) { return field ? field : none(); };
    return cast<CallInst>(e_.intrinsic(kMeeting, StructType::get(e_.i(32), e_.i(32)),
                                       {e_.getInt32(kind), mode, given(site_), mask, given(value),
                                        given(high), given(operand), given(clamp)}));
  }

  /// `flag`, if not null, is where the service stored whether its result means something.
  void replace(CallInst* meeting, Value* flag = nullptr) {
    Value* result = e_.CreateExtractValue(meeting, 0);
    if (flag && !isa<ConstantPointerNull>(flag))
      e_.CreateStore(e_.CreateExtractValue(meeting, 1), flag);
    if (call_.getType()->isIntegerTy(64)) {
      Value* upper = e_.CreateZExt(e_.CreateExtractValue(meeting, 1), e_.i(64));
      result = e_.CreateOr(e_.CreateZExt(result, e_.i(64)), e_.CreateShl(upper, 32));
    }
    if (!call_.getType()->isVoidTy())
      call_.replaceAllUsesWith(result);
    call_.eraseFromParent();
  }

  CallInst& call_;
  size_t service_;
  Emit e_;
  Value* site_ = nullptr;
};

uint32_t numberOf(const Value* value) { return uint32_t(cast<ConstantInt>(value)->getZExtValue()); }

/// Variables that only a service wrote are values now.
void promoteVariables(Function& body) {
  SmallVector<AllocaInst*> variables;
  for (Instruction& instruction : body.getEntryBlock())
    if (auto* variable = dyn_cast<AllocaInst>(&instruction);
        variable && isAllocaPromotable(variable))
      variables.push_back(variable);
  DominatorTree dominators(body);
  PromoteMemToReg(variables, dominators);
}

} // namespace

std::optional<unsigned> countWarpServices(Module& module, const Function& kernel) {
  unsigned count = 0;
  for (size_t offset : kWarpServices) {
    Function* service = module.getFunction(kServicePrefix + std::to_string(offset));
    if (!service)
      continue;
    for (User* user : service->users()) {
      auto* call = dyn_cast<CallInst>(user);
      if (!call || call->getFunction() != &kernel)
        return std::nullopt;
      for (const FixedOperand& fixed : kFixed)
        if (fixed.service == offset && !isa<ConstantInt>(call->getArgOperand(fixed.operand)))
          return std::nullopt;
      ++count;
    }
  }
  return count;
}

void makeWarpMeetings(Function& body) {
  bool isChanged = false;
  for (size_t offset : kWarpServices) {
    Function* service = body.getParent()->getFunction(kServicePrefix + std::to_string(offset));
    if (!service)
      continue;
    for (User* user : make_early_inc_range(service->users()))
      Replacement(*cast<CallInst>(user), offset).run();
    isChanged = true;
  }
  if (isChanged)
    promoteVariables(body);
}

bool isWarpMeeting(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  return callee && callee->getName() == kMeeting;
}

mneme_cpu_meeting describeMeeting(const CallInst& call) {
  mneme_cpu_meeting meeting{};
  meeting.kind = numberOf(call.getArgOperand(0));
  meeting.mode = numberOf(call.getArgOperand(1));
  meeting.site = numberOf(call.getArgOperand(2));
  for (unsigned field : kBrought)
    if (!broughtOperand(call, field)) {
      meeting.given |= 1u << field;
      auto* constant =
          dyn_cast<ConstantInt>(call.getArgOperand(kFirstField + field - MNEME_LANE_MASK));
      meeting.fixed[field] = constant ? numberOf(constant) : 0; // undefined: any
    }
  return meeting;
}

bool hasFlag(const CallInst& call) {
  return any_of(call.users(), [](const User* user) {
    auto* part = dyn_cast<ExtractValueInst>(user);
    return !part || (part->getIndices()[0] == 1 && !part->use_empty());
  });
}

Value* broughtOperand(const CallInst& call, unsigned field) {
  Value* operand = call.getArgOperand(kFirstField + field - MNEME_LANE_MASK);
  return isa<ConstantInt>(operand) || isa<UndefValue>(operand) ? nullptr : operand;
}

} // namespace mneme::compile::cpu
