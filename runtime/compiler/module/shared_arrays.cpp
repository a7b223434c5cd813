#include "runtime/compiler/module/shared_arrays.h"

#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <vector>

namespace mneme::compile {
namespace {

constexpr llvm::StringLiteral kCallee = "_ZN7proteus12shared_array";
constexpr unsigned kSharedSpace = 3;
constexpr uint64_t kAlign = 16;

void foldConstants(llvm::Function& function) {
  const llvm::SimplifyQuery query(function.getParent()->getDataLayout());
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (llvm::Value* simpler = llvm::simplifyInstruction(&instruction, query);
          simpler && llvm::isa<llvm::Constant>(simpler) && !instruction.use_empty()) {
        instruction.replaceAllUsesWith(simpler);
        changed = true;
      }
  }
}

std::vector<llvm::CallInst*> callsOf(llvm::Function& callee) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::User* user : callee.users())
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user);
        call && call->getCalledOperand() == &callee)
      calls.push_back(call);
  return calls;
}

/// Where a load or store has its address; null for all else.
const llvm::Use* placeOf(const llvm::User& user) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&user))
    return &load->getOperandUse(llvm::LoadInst::getPointerOperandIndex());
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&user))
    return &store->getOperandUse(llvm::StoreInst::getPointerOperandIndex());
  return nullptr;
}

/// AMD's locals lie in an address space of their own, and clang reads and writes them through a
/// generic pointer, which would keep them in memory.
void useLocalsDirectly(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&instruction);
    auto* slot = cast ? llvm::dyn_cast<llvm::AllocaInst>(cast->getPointerOperand()) : nullptr;
    if (!slot)
      continue;
    for (llvm::Use& use : llvm::make_early_inc_range(cast->uses()))
      if (&use == placeOf(*use.getUser()))
        use.set(slot);
    if (cast->use_empty())
      cast->eraseFromParent();
  }
}

/// The number of bytes, elements times their size; 0 if it is not known.
uint64_t sizeOf(const llvm::CallInst& call) {
  const auto* count = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
  const auto* size = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(1));
  return count && size ? count->getZExtValue() * size->getZExtValue() : 0;
}

/// The number of bytes that all calls agree on, else 0: as built they share one array.
uint64_t commonSize(const std::vector<llvm::CallInst*>& calls) {
  for (llvm::CallInst* call : calls)
    keepLocalsInRegisters(*call->getFunction());
  const uint64_t bytes = calls.empty() ? 0 : sizeOf(*calls.front());
  const bool isCommon =
      llvm::all_of(calls, [&](const llvm::CallInst* call) { return sizeOf(*call) == bytes; });
  return isCommon ? bytes : 0;
}

} // namespace

void keepLocalsInRegisters(llvm::Function& function) {
  useLocalsDirectly(function);
  std::vector<llvm::AllocaInst*> slots;
  for (llvm::Instruction& instruction : function.getEntryBlock())
    if (auto* slot = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
        slot && llvm::isAllocaPromotable(slot))
      slots.push_back(slot);
  llvm::DominatorTree tree(function);
  llvm::PromoteMemToReg(slots, tree);
  foldConstants(function);
}

void specializeSharedArrays(llvm::Module& module, TraceText trace) {
  for (llvm::Function& callee : module) {
    if (!callee.getName().starts_with(kCallee) || callee.arg_size() != 2)
      continue;
    const std::vector<llvm::CallInst*> calls = callsOf(callee);
    const uint64_t bytes = commonSize(calls);
    if (bytes == 0)
      continue;
    auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), bytes);
    auto* array = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::InternalLinkage,
                                           llvm::UndefValue::get(type), ".proteus.shared", nullptr,
                                           llvm::GlobalValue::NotThreadLocal, kSharedSpace);
    array->setAlignment(llvm::Align(kAlign));
    for (llvm::CallInst* call : calls) {
      if (trace)
        llvm::raw_string_ostream(*trace)
            << "[SharedArray] Replace CB " << llvm::demangle(callee.getName()) << " with " << *array
            << '\n';
      call->replaceAllUsesWith(
          llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(array, call->getType()));
      call->eraseFromParent();
    }
  }
}

} // namespace mneme::compile
