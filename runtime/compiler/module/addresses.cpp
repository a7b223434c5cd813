#include "runtime/compiler/module/addresses.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ReplaceConstant.h>

#include <vector>

#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

constexpr llvm::StringLiteral kMetadata = "mneme.addresses"; // passes/host_closure.h

class Replacer {
public:
  explicit Replacer(llvm::Module& module)
      : module_(module), context_(module.getContext()), layout_(module.getDataLayout()) {}

  Addresses replace() {
    readMetadata();
    auto* pointer = llvm::PointerType::getUnqual(context_);
    auto* null = llvm::ConstantPointerNull::get(pointer);
    Addresses made{.table = null, .count = count_, .fixups = null, .fixupCount = 0};
    if (indices_.empty())
      return made;
    auto* type = llvm::ArrayType::get(pointer, count_);
    table_ = new llvm::GlobalVariable(module_, type, false, llvm::GlobalValue::InternalLinkage,
                                      llvm::Constant::getNullValue(type), "__mneme_addresses");
    made.table = table_;
    for (llvm::GlobalVariable& variable : module_.globals())
      if (variable.hasInitializer() && &variable != table_)
        fixVariable(variable);
    if (!fixups_.empty()) {
      auto* rows = llvm::ArrayType::get(fixups_.front()->getType(), fixups_.size());
      made.fixups =
          new llvm::GlobalVariable(module_, rows, true, llvm::GlobalValue::InternalLinkage,
                                   llvm::ConstantArray::get(rows, fixups_), "__mneme_fixups");
      made.fixupCount = fixups_.size();
    }
    replaceInCode();
    return made;
  }

private:
  /// Positions count, whatever the optimiser has removed.
  void readMetadata() {
    llvm::NamedMDNode* listed = module_.getNamedMetadata(kMetadata);
    if (!listed)
      return;
    for (llvm::MDNode* node : listed->operands()) {
      auto* symbol =
          node->getNumOperands() == 0
              ? nullptr
              : llvm::mdconst::dyn_extract_or_null<llvm::GlobalValue>(node->getOperand(0));
      if (symbol)
        indices_.insert({symbol, count_});
      ++count_;
    }
    listed->eraseFromParent();
  }

  bool holdsAddresses(const llvm::Constant& constant) {
    if (indices_.contains(llvm::dyn_cast<llvm::GlobalValue>(&constant)))
      return true;
    return !llvm::isa<llvm::GlobalValue>(constant) && !llvm::isa<llvm::BlockAddress>(constant) &&
           llvm::any_of(constant.operands(), [&](const llvm::Use& operand) {
             const auto* inner = llvm::dyn_cast<llvm::Constant>(operand.get());
             return inner && holdsAddresses(*inner);
           });
  }

  void fixVariable(llvm::GlobalVariable& variable) {
    llvm::Constant* content = variable.getInitializer();
    if (!holdsAddresses(*content))
      return;
    variable.setConstant(false);
    variable.setInitializer(withoutAddresses(variable, *content, 0));
  }

  /// `constant`, at `offset` in `variable`, with null for what is fixed later.
  llvm::Constant* withoutAddresses(llvm::GlobalVariable& variable, llvm::Constant& constant,
                                   uint64_t offset) {
    if (!holdsAddresses(constant))
      return &constant;
    if (constant.getType()->isPointerTy()) {
      llvm::APInt addend(layout_.getIndexTypeSizeInBits(constant.getType()), 0);
      auto* symbol = llvm::dyn_cast<llvm::GlobalValue>(
          constant.stripAndAccumulateConstantOffsets(layout_, addend, /*AllowNonInbounds=*/true));
      if (!symbol || !indices_.contains(symbol))
        refuse(variable);
      addFixup(variable, offset, indices_.lookup(symbol), addend.getSExtValue());
      return llvm::Constant::getNullValue(constant.getType());
    }
    std::vector<llvm::Constant*> parts;
    auto* structure = llvm::dyn_cast<llvm::StructType>(constant.getType());
    auto* array = llvm::dyn_cast<llvm::ArrayType>(constant.getType());
    if (!llvm::isa<llvm::ConstantAggregate>(constant) || (!structure && !array))
      refuse(variable);
    for (unsigned index = 0; index < constant.getNumOperands(); ++index) {
      const uint64_t inside =
          structure ? layout_.getStructLayout(structure)->getElementOffset(index).getFixedValue()
                    : index * layout_.getTypeAllocSize(array->getElementType()).getFixedValue();
      parts.push_back(withoutAddresses(
          variable, *llvm::cast<llvm::Constant>(constant.getOperand(index)), offset + inside));
    }
    if (structure)
      return llvm::ConstantStruct::get(structure, parts);
    return llvm::ConstantArray::get(array, parts);
  }

  [[noreturn]] static void refuse(const llvm::GlobalVariable& variable) {
    throw Error(ErrorCode::Unsupported,
                "constant '" + variable.getName().str() + "' is computed from an address");
  }

  void addFixup(llvm::GlobalVariable& variable, uint64_t offset, size_t index, int64_t addend) {
    llvm::Type* i64 = llvm::Type::getInt64Ty(context_);
    llvm::Constant* place = llvm::ConstantExpr::getGetElementPtr(
        llvm::Type::getInt8Ty(context_), &variable, llvm::ConstantInt::get(i64, offset));
    fixups_.push_back(llvm::ConstantStruct::getAnon(
        {place, llvm::ConstantInt::get(i64, index), llvm::ConstantInt::getSigned(i64, addend)}));
  }

  void replaceInCode() {
    std::vector<llvm::Constant*> symbols;
    for (const auto& [symbol, index] : indices_)
      symbols.push_back(const_cast<llvm::GlobalValue*>(symbol));
    llvm::convertUsersOfConstantsToInstructions(symbols);
    for (const auto& [symbol, index] : indices_) {
      auto* global = const_cast<llvm::GlobalValue*>(symbol);
      for (llvm::Use& use : llvm::make_early_inc_range(global->uses()))
        if (auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser()))
          use.set(loadFor(*user, use, index));
      global->removeDeadConstantUsers();
      if (global->use_empty())
        global->eraseFromParent();
    }
  }

  /// Loads beside the use: the code generator moves loads of what does not change out of loops.
  llvm::Value* loadFor(llvm::Instruction& user, const llvm::Use& use, size_t index) {
    auto* phi = llvm::dyn_cast<llvm::PHINode>(&user);
    llvm::Instruction* before = &user;
    if (phi) {
      llvm::BasicBlock* from = phi->getIncomingBlock(use);
      // A block that comes in twice has to bring the same value.
      llvm::Value*& known = phiLoads_[{phi, from}];
      if (known)
        return known;
      return known = load(*from->getTerminator(), index);
    }
    return load(*before, index);
  }

  llvm::Value* load(llvm::Instruction& before, size_t index) {
    llvm::IRBuilder<> builder(&before);
    llvm::LoadInst* load = builder.CreateLoad(
        builder.getPtrTy(),
        builder.CreateConstInBoundsGEP2_64(table_->getValueType(), table_, 0, index));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    return load;
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const llvm::DataLayout& layout_;
  llvm::MapVector<const llvm::GlobalValue*, size_t> indices_;
  llvm::DenseMap<std::pair<llvm::PHINode*, llvm::BasicBlock*>, llvm::Value*> phiLoads_;
  size_t count_ = 0;
  llvm::GlobalVariable* table_ = nullptr;
  std::vector<llvm::Constant*> fixups_;
};

} // namespace

void forgetShadows(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (function.hasAvailableExternallyLinkage())
      function.deleteBody();
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.hasAvailableExternallyLinkage()) {
      variable.setInitializer(nullptr);
      variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
    }
}

Addresses replaceAddresses(llvm::Module& module) { return Replacer(module).replace(); }

} // namespace mneme::compile
