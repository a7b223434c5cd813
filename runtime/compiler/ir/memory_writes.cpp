#include "runtime/compiler/ir/memory_writes.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "runtime/compiler/ir/closure_argument.h"

namespace mneme::ir {
namespace {

constexpr size_t kMostPlaces = 4096;

const llvm::DataLayout& layoutOf(const llvm::Value& base) {
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&base))
    return argument->getParent()->getParent()->getDataLayout();
  return llvm::cast<llvm::Instruction>(base).getModule()->getDataLayout();
}

llvm::Value* underlying(llvm::Value& address) {
  llvm::Value* base = address.stripPointerCasts();
  while (auto* inner = llvm::dyn_cast<llvm::GEPOperator>(base))
    base = inner->getPointerOperand()->stripPointerCasts();
  return base;
}

} // namespace

MemoryWrites::MemoryWrites(llvm::Value& base, int64_t offset, uint64_t sizeBytes,
                           llvm::Function* reader)
    : layout_(layoutOf(base)), begin_(offset), end_(offset + static_cast<int64_t>(sizeBytes)),
      reader_(reader) {
  add({&base, 0, Kind::Address, 0});
  while (!pending_.empty()) {
    const Place place = pending_.pop_back_val();
    for (llvm::Use& use : place.value->uses())
      if (place.kind == Kind::Address)
        visit(use, place);
      else
        visitHolder(use, place);
  }
}

void MemoryWrites::add(const Place& place) {
  if (seen_.size() >= kMostPlaces)
    isUnknown = true;
  else if (seen_.insert({place.value, {place.offset, int64_t(place.kind)}}).second)
    pending_.push_back(place);
}

/// Whether the user is an address derived from the place's.
bool MemoryWrites::step(llvm::User& user, const Place& place) {
  Place next = place;
  next.value = &user;
  if (auto* address = llvm::dyn_cast<llvm::GEPOperator>(&user)) {
    llvm::APInt more(layout_.getIndexTypeSizeInBits(address->getType()), 0);
    if (address->accumulateConstantOffset(layout_, more)) {
      next.offset += more.getSExtValue();
      add(next);
    } else {
      visitComputed(user, place);
    }
    return true;
  }
  const auto* operation = llvm::dyn_cast<llvm::Operator>(&user);
  switch (operation ? operation->getOpcode() : 0) {
  case llvm::Instruction::Add:
  case llvm::Instruction::Sub: {
    const auto* more = llvm::dyn_cast<llvm::ConstantInt>(operation->getOperand(1));
    if (!more)
      return false;
    const bool isSum = operation->getOpcode() == llvm::Instruction::Add;
    next.offset += isSum ? more->getSExtValue() : -more->getSExtValue();
    add(next);
    return true;
  }
  case llvm::Instruction::AddrSpaceCast:
  case llvm::Instruction::BitCast:
  case llvm::Instruction::PtrToInt:
  case llvm::Instruction::IntToPtr:
  case llvm::Instruction::Freeze:
  case llvm::Instruction::PHI:
  case llvm::Instruction::Select:
    add(next);
    return true;
  default:
    return false;
  }
}

/// The place is known at run time only: it may be read.
void MemoryWrites::visitComputed(llvm::User& address, const Place& place) {
  if (place.kind == Kind::Holder || !llvm::all_of(address.users(), [](const llvm::User* user) {
        return llvm::isa<llvm::LoadInst>(user);
      }))
    isUnknown = true;
}

void MemoryWrites::write(int64_t begin, uint64_t size, MemoryWrite what) {
  const int64_t end = begin + static_cast<int64_t>(size);
  if (end <= begin_ || end_ <= begin)
    return;
  if (begin > begin_ || end < end_) {
    isUnknown = true;
    return;
  }
  what.offset += begin_ - begin;
  writes.push_back(what);
}

/// The address is stored: whatever is loaded from there may be it.
void MemoryWrites::keep(llvm::Value& variable, int64_t held) {
  llvm::Value* base = underlying(variable);
  if (llvm::isa<llvm::AllocaInst>(base))
    add({base, 0, Kind::Holder, held});
  else
    isUnknown = true;
}

void MemoryWrites::visitStore(llvm::StoreInst& store, llvm::Use& use, const Place& place) {
  llvm::Value& value = *store.getValueOperand();
  if (use.getOperandNo() != llvm::StoreInst::getPointerOperandIndex())
    return keep(*store.getPointerOperand(), place.offset);
  if (!store.isSimple())
    isUnknown = true;
  write(place.offset, layout_.getTypeStoreSize(value.getType()).getFixedValue(), {.value = &value});
}

void MemoryWrites::visit(llvm::Use& use, const Place& place) {
  llvm::User& user = *use.getUser();
  if (llvm::isa<llvm::LoadInst, llvm::ICmpInst>(user) || step(user, place))
    return;
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&user))
    visitStore(*store, use, place);
  else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&user))
    visitCall(*call, use, place);
  else
    isUnknown = true;
}

void MemoryWrites::visitCall(llvm::CallBase& call, llvm::Use& use, const Place& place) {
  if (auto* filled = llvm::dyn_cast<llvm::MemIntrinsic>(&call);
      filled && &use == &filled->getRawDestUse()) {
    const auto* size = llvm::dyn_cast<llvm::ConstantInt>(filled->getLength());
    auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(filled);
    if (size && transfer)
      write(place.offset, size->getZExtValue(), {.source = transfer->getRawSource()});
    else
      isUnknown = true;
    return;
  }
  if (llvm::isa<llvm::MemTransferInst>(call) || call.isLifetimeStartOrEnd() ||
      llvm::isa<llvm::DbgInfoIntrinsic>(call))
    return;
  if (call.isArgOperand(&use)) {
    const unsigned number = call.getArgOperandNo(&use);
    llvm::Function* callee = call.getCalledFunction();
    const bool isClosure = callee && !callee->isDeclaration() && number < callee->arg_size() &&
                           callee->getArg(number) == closureArgument(*callee);
    if (call.isByValArgument(number) || (isClosure && callee == reader_))
      return;
  }
  isUnknown = true;
  obstacles.push_back(&call);
}

/// A variable that holds the address.
void MemoryWrites::visitHolder(llvm::Use& use, const Place& place) {
  llvm::User& user = *use.getUser();
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&user)) {
    if (load->getType()->isPointerTy() || load->getType()->isIntegerTy())
      add({load, place.held, Kind::Address, 0});
    else if (load->getType()->isAggregateType())
      isUnknown = true;
    return;
  }
  if (llvm::isa<llvm::ICmpInst>(user) || step(user, place))
    return;
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&user)) {
    if (use.getOperandNo() != llvm::StoreInst::getPointerOperandIndex())
      keep(*store->getPointerOperand(), place.offset); // the holder's own address
    return;
  }
  if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&user)) {
    if (&use == &transfer->getRawSourceUse())
      keep(*transfer->getRawDest(), place.held);
    return;
  }
  auto* call = llvm::dyn_cast<llvm::CallBase>(&user);
  if (call && (call->isLifetimeStartOrEnd() || llvm::isa<llvm::MemIntrinsic>(call) ||
               llvm::isa<llvm::DbgInfoIntrinsic>(call)))
    return;
  isUnknown = true;
  if (call)
    obstacles.push_back(call);
}

} // namespace mneme::ir
