#include "runtime/compiler/ir/struct_reads.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/InlineCost.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/IPO/Inliner.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "runtime/compiler/ir/pipeline_runner.h"

namespace mneme::ir {
namespace {

constexpr size_t kMostPlaces = 4096;
constexpr int kInlineThreshold = 225 * 11; // clang's at -O2 for NVIDIA GPUs

/// Follows an address through casts, offsets and choices.
class Walk {
public:
  Walk(llvm::Argument& argument, StructReads& found)
      : layout_(argument.getParent()->getParent()->getDataLayout()), found_(found) {
    add(argument, 0);
    while (!pending_.empty()) {
      const auto [value, offset] = pending_.pop_back_val();
      for (llvm::Use& use : value->uses())
        visit(use, offset);
    }
  }

private:
  void add(llvm::Value& value, int64_t offset) {
    if (seen_.size() >= kMostPlaces)
      escape();
    else if (seen_.insert({&value, offset}).second)
      pending_.push_back({&value, offset});
  }

  void escape() { found_.isAllRead = found_.isWritten = true; }

  void copy(int64_t offset, llvm::Value* length) {
    const auto* size = llvm::dyn_cast<llvm::ConstantInt>(length);
    if (size && offset >= 0)
      found_.copies.push_back({uint64_t(offset), size->getZExtValue()});
    else
      found_.isAllRead = true;
  }

  void visitAddress(llvm::GEPOperator& address, int64_t offset) {
    llvm::APInt more(layout_.getIndexTypeSizeInBits(address.getType()), 0);
    if (address.accumulateConstantOffset(layout_, more))
      add(address, offset + more.getSExtValue());
    else
      visitComputed(address, offset);
  }

  /// The place is known at run time only. An index leads into its own array.
  void visitComputed(llvm::GEPOperator& address, int64_t offset) {
    llvm::Type* type = address.getSourceElementType();
    const auto* first = llvm::dyn_cast<llvm::ConstantInt>(address.idx_begin()->get());
    if (type->isArrayTy() && first && first->isZero() && offset >= 0)
      found_.copies.push_back({uint64_t(offset), layout_.getTypeAllocSize(type).getFixedValue()});
    else
      found_.isAllRead = true;
    if (!llvm::all_of(address.users(),
                      [](const llvm::User* user) { return llvm::isa<llvm::LoadInst>(user); }))
      found_.isWritten = true; // perhaps
  }

  void visitCall(llvm::CallBase& call, llvm::Use& use, int64_t offset) {
    if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&call);
        transfer && &use == &transfer->getRawSourceUse())
      return copy(offset, transfer->getLength());
    if (auto* filled = llvm::dyn_cast<llvm::MemIntrinsic>(&call);
        filled && &use == &filled->getRawDestUse()) {
      found_.isWritten = true;
      return;
    }
    if (call.isLifetimeStartOrEnd() || llvm::isa<llvm::DbgInfoIntrinsic, llvm::AssumeInst>(call))
      return; // facts about the address
    if (call.isArgOperand(&use) && call.isByValArgument(call.getArgOperandNo(&use)) &&
        offset >= 0) {
      llvm::Type* type = call.getParamByValType(call.getArgOperandNo(&use));
      found_.copies.push_back({uint64_t(offset), layout_.getTypeAllocSize(type).getFixedValue()});
      return;
    }
    escape();
  }

  void visit(llvm::Use& use, int64_t offset) {
    llvm::User* user = use.getUser();
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user); load && offset >= 0)
      found_.values.push_back({load, uint64_t(offset)});
    else if (auto* address = llvm::dyn_cast<llvm::GEPOperator>(user))
      visitAddress(*address, offset);
    else if (llvm::isa<llvm::AddrSpaceCastOperator, llvm::BitCastOperator, llvm::PHINode,
                       llvm::SelectInst>(user))
      add(*user, offset);
    else if (auto* call = llvm::dyn_cast<llvm::CallBase>(user))
      visitCall(*call, use, offset);
    else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
             store && use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex())
      found_.isWritten = true;
    else if (!llvm::isa<llvm::ICmpInst>(user))
      escape();
  }

  const llvm::DataLayout& layout_;
  StructReads& found_;
  llvm::DenseSet<std::pair<llvm::Value*, int64_t>> seen_;
  llvm::SmallVector<std::pair<llvm::Value*, int64_t>> pending_;
};

/// A structure in registers: AMD GPUs have those with pointers so.
void readElements(llvm::Argument& argument, StructReads& found) {
  const llvm::DataLayout& layout = argument.getParent()->getParent()->getDataLayout();
  for (llvm::User* user : argument.users())
    if (auto* element = llvm::dyn_cast<llvm::ExtractValueInst>(user))
      found.values.push_back({element, elementOffset(element->getAggregateOperand()->getType(),
                                                     element->getIndices(), layout)});
    else
      found.isAllRead = true;
}

} // namespace

uint64_t elementOffset(llvm::Type* type, llvm::ArrayRef<unsigned> indices,
                       const llvm::DataLayout& layout) {
  uint64_t offset = 0;
  for (const unsigned index : indices) {
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
      offset += layout.getStructLayout(structure)->getElementOffset(index).getFixedValue();
      type = structure->getElementType(index);
    } else {
      type = type->getArrayElementType();
      offset += index * layout.getTypeAllocSize(type).getFixedValue();
    }
  }
  return offset;
}

llvm::Type* structByValue(const llvm::Argument& argument) {
  if (argument.hasByValAttr() || argument.hasByRefAttr())
    return argument.getPointeeInMemoryValueType();
  return argument.getType()->isAggregateType() ? argument.getType() : nullptr;
}

StructReads readsOfStruct(llvm::Argument& argument) {
  StructReads found;
  if (argument.getType()->isPointerTy())
    Walk(argument, found);
  else
    readElements(argument, found);
  return found;
}

void exposeStructReads(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  simplify.addPass(llvm::EarlyCSEPass());
  simplify.addPass(llvm::SimplifyCFGPass());
  llvm::ModuleInlinerWrapperPass inlining(llvm::getInlineParams(kInlineThreshold));
  inlining.getPM().addPass(llvm::createCGSCCToFunctionPassAdaptor(std::move(simplify)));
  llvm::ModulePassManager passes;
  passes.addPass(std::move(inlining));
  // Copies of members that nothing reads.
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::DSEPass()));
  PipelineRunner(machine, llvm::PipelineTuningOptions()).run(module, std::move(passes));
}

} // namespace mneme::ir
