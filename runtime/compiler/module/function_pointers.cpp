#include "runtime/compiler/module/function_pointers.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "runtime/compiler/ir/function_cells.h"
#include "runtime/core/base/hash.h"

namespace mneme::compile {
namespace {

constexpr char kQuestion[] = "mneme.callee.";
constexpr char kDirect[] = "mneme.direct";
constexpr char kRead[] = "mneme.read";
// A word with this mark is not an address, nor a double that programs contain by chance.
constexpr uint64_t kWordMark = uint64_t{0x46} << 56;
constexpr uint64_t kWordMask = (uint64_t{1} << 56) - 16;

llvm::SmallVector<llvm::GlobalVariable*> cellsOf(llvm::Module& module) {
  llvm::SmallVector<llvm::GlobalVariable*> cells;
  for (llvm::GlobalVariable& variable : module.globals())
    if (ir::isFunctionCell(variable))
      cells.push_back(&variable);
  return cells;
}

/// What stands for the function of a cell wherever its address is data.
llvm::Constant* symbolOf(llvm::GlobalVariable& cell, llvm::Type* type) {
  return llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(&cell, type);
}

/// Direct calls keep the function; everything else gets the symbol.
void replaceAddress(llvm::Module& module, llvm::GlobalVariable& cell, llvm::Function& function) {
  llvm::Function* direct = llvm::Function::Create(
      function.getFunctionType(), llvm::GlobalValue::ExternalLinkage, kDirect, module);
  for (llvm::Use& use : llvm::make_early_inc_range(function.uses()))
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser()); call && call->isCallee(&use))
      use.set(direct);
  cell.setInitializer(nullptr);
  function.replaceAllUsesWith(symbolOf(cell, function.getType()));
  cell.setInitializer(&function);
  direct->replaceAllUsesWith(&function);
  direct->eraseFromParent();
}

/// A function without effect: equal questions have equal answers. LLVM may move them, but not to
/// where they would not have been asked: a pointer that is not called may be anything, such as
/// null.
llvm::Function* question(llvm::Module& module, const std::string& name) {
  auto* pointer = llvm::PointerType::getUnqual(module.getContext());
  auto* function =
      llvm::cast<llvm::Function>(module.getOrInsertFunction(name, pointer, pointer).getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  return function;
}

/// The function a pointer is known to mean; null if it is not known.
llvm::Function* knownCallee(llvm::Value* pointer) {
  llvm::Value* value = pointer->stripPointerCasts();
  if (auto* cell = llvm::dyn_cast<llvm::GlobalVariable>(value))
    return ir::functionOf(*cell);
  return llvm::dyn_cast<llvm::Function>(value);
}

/// Contents of cells, each read once where a function begins.
class CellReader {
public:
  llvm::Value* read(llvm::Function& function, llvm::GlobalVariable& cell) {
    llvm::Value*& content = contents_[{&function, &cell}];
    if (!content) {
      llvm::BasicBlock& entry = function.getEntryBlock();
      llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
      llvm::LoadInst* load = builder.CreateAlignedLoad(cell.getValueType(), &cell, llvm::Align(8),
                                                       cell.getName() + ".address");
      load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(function.getContext(), {}));
      content = load;
      loads_.insert(load);
    }
    return content;
  }
  bool isOwn(const llvm::User* user) const { return loads_.contains(user); }

private:
  llvm::DenseMap<std::pair<llvm::Function*, llvm::GlobalVariable*>, llvm::Value*> contents_;
  llvm::SmallPtrSet<const llvm::User*, 16> loads_;
};

/// The function of this module that is meant by `call`'s argument.
llvm::Value* answer(llvm::CallInst& call, llvm::FunctionType* type,
                    llvm::ArrayRef<llvm::GlobalVariable*> cells, CellReader& reader,
                    bool trapsOnUnknown) {
  llvm::Value* pointer = call.getArgOperand(0);
  llvm::IRBuilder<> builder(&call);
  llvm::Value* found = pointer;
  if (trapsOnUnknown)
    found = llvm::ConstantPointerNull::get(llvm::cast<llvm::PointerType>(pointer->getType()));
  bool hasCandidate = false;
  for (llvm::GlobalVariable* cell : cells) {
    llvm::Function* function = ir::functionOf(*cell);
    if (!function || function->isDeclaration() || function->getFunctionType() != type)
      continue;
    llvm::Value* address = reader.read(*call.getFunction(), *cell);
    found = builder.CreateSelect(builder.CreateICmpEQ(pointer, address), function, found);
    hasCandidate = true;
  }
  if (!trapsOnUnknown)
    return found;
  llvm::Value* isUnknown =
      hasCandidate ? builder.CreateIsNull(found) : static_cast<llvm::Value*>(builder.getTrue());
  llvm::Instruction* end = llvm::SplitBlockAndInsertIfThen(isUnknown, call.getIterator(), true);
  llvm::IRBuilder<> trap(end);
  trap.CreateCall(call.getModule()->getOrInsertFunction("llvm.trap", trap.getVoidTy()));
  return found;
}

/// Instructions that use the symbol of a cell get what the cell holds.
void readWhereUsed(llvm::GlobalVariable& cell, CellReader& reader) {
  llvm::convertUsersOfConstantsToInstructions({&cell});
  for (llvm::Use& use : llvm::make_early_inc_range(cell.uses())) {
    auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
    if (!user || reader.isOwn(user))
      continue;
    llvm::Value* content = reader.read(*user->getFunction(), cell);
    if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(user);
        cast && cast->getType() == content->getType()) {
      cast->replaceAllUsesWith(content);
      cast->eraseFromParent();
      continue;
    }
    llvm::IRBuilder<> builder(llvm::cast<llvm::Instruction>(content)->getNextNode());
    use.set(builder.CreateAddrSpaceCast(content, use->getType()));
  }
}

/// Initial values of variables that hold the symbol of a cell hold `value` in its place. Expects
/// instructions to do nothing but read the cell.
void settleConstants(llvm::Module& module, llvm::GlobalVariable& cell, llvm::Constant* value) {
  cell.removeDeadConstantUsers();
  auto* read =
      new llvm::GlobalVariable(module, cell.getValueType(), true, cell.getLinkage(), nullptr, kRead,
                               nullptr, llvm::GlobalValue::NotThreadLocal, cell.getAddressSpace());
  for (llvm::Use& use : llvm::make_early_inc_range(cell.uses()))
    if (llvm::isa<llvm::Instruction>(use.getUser()))
      use.set(read);
  cell.replaceAllUsesWith(
      llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(value, cell.getType()));
  read->replaceAllUsesWith(&cell);
  read->eraseFromParent();
}

/// The address of a function in a program whose functions have none: the same in every module.
llvm::Constant* functionWord(llvm::GlobalVariable& cell) {
  llvm::LLVMContext& context = cell.getContext();
  const uint64_t word = (hash64(cell.getName().str()) & kWordMask) | kWordMark;
  return llvm::ConstantExpr::getIntToPtr(
      llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), word),
      llvm::PointerType::getUnqual(context));
}

class FoldPass : public llvm::PassInfoMixin<FoldPass> {
public:
  explicit FoldPass(std::function<bool(llvm::Function&)> fold) : fold_(std::move(fold)) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    return fold_(function) ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

private:
  std::function<bool(llvm::Function&)> fold_;
};

} // namespace

bool FunctionPointers::detach(llvm::Module& module) {
  const llvm::SmallVector<llvm::GlobalVariable*> cells = cellsOf(module);
  if (cells.empty())
    return false;
  for (llvm::GlobalVariable* cell : cells) {
    if (!cell->hasInitializer())
      continue;
    // What only cells refer to stays until attach().
    cell->setLinkage(llvm::GlobalValue::ExternalLinkage);
    cell->setExternallyInitialized(true);
    cell->setComdat(nullptr);
    if (llvm::Function* function = ir::functionOf(*cell))
      replaceAddress(module, *cell, *function);
  }
  llvm::DenseMap<llvm::FunctionType*, llvm::Function*> byType;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!ir::callsPointer(instruction))
        continue;
      auto& call = llvm::cast<llvm::CallBase>(instruction);
      llvm::Function*& asked = byType[call.getFunctionType()];
      if (!asked) {
        const std::string name = kQuestion + std::to_string(questions_.size());
        questions_[name] = call.getFunctionType();
        asked = question(module, name);
      }
      llvm::IRBuilder<> builder(&call);
      // HIP's vtables hold functions as pointers to global memory.
      llvm::Value* pointer = builder.CreateAddrSpaceCast(
          call.getCalledOperand(), llvm::PointerType::getUnqual(module.getContext()));
      call.setCalledOperand(builder.CreateCall(asked, {pointer}));
    }
  return true;
}

bool FunctionPointers::fold(llvm::Function& function) const {
  bool changed = false;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* asked = call ? call->getCalledFunction() : nullptr;
    if (!asked || !questions_.contains(asked->getName().str()))
      continue;
    if (llvm::Function* known = knownCallee(call->getArgOperand(0))) {
      call->replaceAllUsesWith(known);
      call->eraseFromParent();
      changed = true;
    }
  }
  return changed;
}

void FunctionPointers::registerFolding(llvm::PassBuilder& builder) const {
  builder.registerPeepholeEPCallback(
      [this](llvm::FunctionPassManager& manager, llvm::OptimizationLevel) {
        manager.addPass(FoldPass([this](llvm::Function& function) { return fold(function); }));
      });
}

void FunctionPointers::attach(llvm::Module& module, bool trapsOnUnknown) const {
  attach(module, trapsOnUnknown,
         [](llvm::GlobalVariable& cell) -> llvm::Constant* { return ir::functionOf(cell); });
}

void FunctionPointers::attach(llvm::Module& module, bool trapsOnUnknown,
                              llvm::Constant* (*valueOf)(llvm::GlobalVariable& cell)) const {
  for (llvm::Function& function : module)
    fold(function);
  const llvm::SmallVector<llvm::GlobalVariable*> cells = cellsOf(module);
  CellReader reader;
  for (const auto& [name, type] : questions_) {
    llvm::Function* asked = module.getFunction(name);
    if (!asked)
      continue;
    for (llvm::User* user : llvm::make_early_inc_range(asked->users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      call->replaceAllUsesWith(answer(*call, type, cells, reader, trapsOnUnknown));
      call->eraseFromParent();
    }
    asked->eraseFromParent();
  }
  for (llvm::GlobalVariable* cell : cells)
    readWhereUsed(*cell, reader);
  for (llvm::GlobalVariable* cell : cells) {
    if (llvm::Constant* value = valueOf(*cell))
      settleConstants(module, *cell, value);
    if (cell->use_empty())
      cell->eraseFromParent();
  }
}

void FunctionPointers::lower(llvm::Module& module) {
  FunctionPointers pointers;
  if (!pointers.detach(module))
    return;
  pointers.attach(module, /*trapsOnUnknown=*/true, functionWord);
  for (llvm::GlobalVariable* cell : cellsOf(module)) {
    llvm::Constant* word = functionWord(*cell);
    cell->setInitializer(word);
    cell->setLinkage(llvm::GlobalValue::AvailableExternallyLinkage);
  }
}

} // namespace mneme::compile
