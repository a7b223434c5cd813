#include "runtime/compiler/module/elements.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "runtime/compiler/module/element_values.h"
#include "runtime/compiler/pass_pipeline.h"

namespace mneme::compile {
namespace {

/// Arguments become values that can be followed, and numbers keep the types they have in the
/// source.
constexpr const char* kTidy = "always-inline,function(sroa,early-cse,simplifycfg),"
                              "cgscc(inline,function(sroa,early-cse,simplifycfg))";

constexpr unsigned kSharedSpace = 3;

/// Memory that has a name outside of the kernel.
struct Root {
  int argument = -1; ///< -1: a variable
  int64_t offset = 0;
  std::string variable = {};
  ElementEvidence evidence = {};
  bool isUnordered = false;

  auto place() const { return std::tie(variable, argument, offset); }
  llvm::json::Object json() const {
    llvm::json::Object object{{"type", evidence.type()},
                              {"stored", !evidence.computed.empty()},
                              {"unordered", isUnordered}};
    if (argument < 0)
      object["global"] = variable;
    else {
      object["arg"] = argument;
      object["offset"] = offset;
    }
    return object;
  }
};

/// Follows pointers from where they come in to where they are used.
class Walk {
public:
  Walk(llvm::Module& module, llvm::Function& kernel)
      : layout_(module.getDataLayout()), kernel_(kernel) {
    for (llvm::Argument& argument : kernel.args())
      enter(argument);
    for (llvm::GlobalVariable& variable : module.globals())
      if (!variable.isConstant() && variable.getAddressSpace() != kSharedSpace)
        follow(&variable, newRoot({.variable = variable.getName().str()}));
  }

  llvm::json::Array describe() {
    while (!waiting_.empty()) {
      const auto [value, root] = waiting_.pop_back_val();
      for (llvm::Use& use : llvm::make_early_inc_range(value->uses()))
        visit(use, *roots_[root], root);
    }
    llvm::sort(roots_, [](const auto& a, const auto& b) { return a->place() < b->place(); });
    llvm::json::Array all;
    for (const auto& root : roots_)
      if (!root->evidence.computed.empty() || !root->evidence.moved.empty())
        all.push_back(root->json());
    return all;
  }

private:
  size_t newRoot(Root root) {
    roots_.push_back(std::make_unique<Root>(std::move(root)));
    return roots_.size() - 1;
  }

  void follow(llvm::Value* value, size_t root) {
    if (reached_.insert({value, root}).second)
      waiting_.push_back({value, root});
  }

  void enter(llvm::Argument& argument) {
    const int number = static_cast<int>(argument.getArgNo());
    if (argument.hasByValAttr() || argument.hasByRefAttr())
      enterFields(argument, argument, 0, number);
    else if (argument.getType()->isPointerTy())
      follow(&argument, newRoot({.argument = number}));
    else if (argument.getType()->isAggregateType())
      enterParts(argument, number);
  }

  size_t rootAt(int argument, int64_t offset) {
    for (size_t i = 0; i < roots_.size(); ++i)
      if (roots_[i]->argument == argument && roots_[i]->offset == offset)
        return i;
    return newRoot({.argument = argument, .offset = offset});
  }

  /// Pointers that are loaded from a structure passed by value.
  void enterFields(llvm::Argument& argument, llvm::Value& pointer, int64_t offset, int number) {
    for (llvm::User* user : pointer.users()) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
        if (load->getType()->isPointerTy() || load->getType()->isIntegerTy(64))
          follow(load, rootAt(number, offset));
        continue;
      }
      llvm::APInt more(layout_.getIndexTypeSizeInBits(pointer.getType()), 0);
      if (auto* place = llvm::dyn_cast<llvm::GEPOperator>(user)) {
        if (place->accumulateConstantOffset(layout_, more))
          enterFields(argument, *place, offset + more.getSExtValue(), number);
      } else if (llvm::isa<llvm::AddrSpaceCastOperator, llvm::BitCastOperator>(user) ||
                 isParameterCast(*user)) {
        enterFields(argument, *user, offset, number);
      }
    }
  }

  /// NVPTX's own way from generic addresses to parameters.
  static bool isParameterCast(const llvm::User& user) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&user);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    return callee && callee->getName().starts_with("llvm.nvvm.ptr.");
  }

  /// Pointers in a structure that is an argument itself.
  void enterParts(llvm::Argument& argument, int number) {
    for (llvm::User* user : argument.users()) {
      auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(user);
      if (!part || !part->getType()->isPointerTy())
        continue;
      llvm::SmallVector<llvm::Value*> indices = {
          llvm::ConstantInt::get(llvm::Type::getInt32Ty(part->getContext()), 0)};
      for (const unsigned index : part->indices())
        indices.push_back(
            llvm::ConstantInt::get(llvm::Type::getInt32Ty(part->getContext()), index));
      follow(part, rootAt(number, layout_.getIndexedOffsetInType(argument.getType(), indices)));
    }
  }

  void visit(llvm::Use& use, Root& root, size_t number) {
    llvm::User* user = use.getUser();
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user))
      noteLeaves(load->getType(), root.evidence.moved);
    else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user))
      visitStore(*store, use, root, number);
    else if (auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(user))
      visitAtomic(*atomic, use, root);
    else if (auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(user))
      visitSwap(*swap, use, root);
    else if (auto* call = llvm::dyn_cast<llvm::CallBase>(user))
      visitCall(*call, use, root, number);
    else if (auto* leave = llvm::dyn_cast<llvm::ReturnInst>(user))
      visitReturn(*leave, number);
    else if (staysPointer(*user, use))
      follow(user, number);
  }

  /// Whether the user is a pointer into the same memory, or on its way to become one.
  static bool staysPointer(const llvm::User& user, const llvm::Use& use) {
    if (llvm::isa<llvm::GEPOperator>(user))
      return use.getOperandNo() == 0;
    if (llvm::isa<llvm::SelectInst>(user))
      return use.getOperandNo() > 0;
    if (llvm::isa<llvm::PHINode, llvm::FreezeInst, llvm::AddrSpaceCastOperator,
                  llvm::BitCastOperator, llvm::PtrToIntOperator, llvm::IntToPtrInst>(user))
      return true;
    switch (llvm::Operator::getOpcode(&user)) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::And:
    case llvm::Instruction::Or:
    case llvm::Instruction::IntToPtr:
      return true;
    default:
      return false;
    }
  }

  void visitStore(llvm::StoreInst& store, const llvm::Use& use, Root& root, size_t number) {
    if (use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex())
      noteStored(store.getValueOperand(), root.evidence);
    else if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(
                 llvm::getUnderlyingObject(store.getPointerOperand())))
      followLoads(*local, number);
  }

  /// A pointer that is kept in a local variable comes from there again.
  void followLoads(llvm::Value& place, size_t number) {
    for (llvm::User* user : place.users())
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
        if (load->getType()->isPointerTy())
          follow(load, number);
      } else if (llvm::isa<llvm::GEPOperator, llvm::AddrSpaceCastOperator>(user)) {
        followLoads(*user, number);
      }
  }

  void visitAtomic(llvm::AtomicRMWInst& atomic, const llvm::Use& use, Root& root) {
    if (use.getOperandNo() != llvm::AtomicRMWInst::getPointerOperandIndex())
      return;
    noteStored(atomic.getValOperand(), root.evidence);
    root.isUnordered |= atomic.getOperation() == llvm::AtomicRMWInst::FAdd ||
                        atomic.getOperation() == llvm::AtomicRMWInst::FSub;
  }

  void visitSwap(llvm::AtomicCmpXchgInst& swap, const llvm::Use& use, Root& root) {
    if (use.getOperandNo() != llvm::AtomicCmpXchgInst::getPointerOperandIndex())
      return;
    noteStored(swap.getNewValOperand(), root.evidence);
    root.isUnordered |= isSumOfFloats(swap.getNewValOperand());
  }

  void visitCall(llvm::CallBase& call, llvm::Use& use, Root& root, size_t number) {
    if (!call.isArgOperand(&use))
      return;
    if (const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
      visitAssembly(assembly->getAsmString(), root);
      return;
    }
    llvm::Function* callee = call.getCalledFunction();
    if (!callee)
      return;
    const unsigned index = call.getArgOperandNo(&use);
    if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&call))
      visitCopy(*copy, root);
    else if (callee->isIntrinsic())
      visitIntrinsic(call, *callee, root, number);
    else if (index < callee->arg_size() && !callee->isDeclaration())
      follow(callee->getArg(index), number);
  }

  static void visitAssembly(llvm::StringRef text, Root& root) {
    std::set<std::string> types;
    noteAssembly(text, types);
    root.evidence.computed.insert(types.begin(), types.end());
    const bool isAtomic = text.contains("atom.") || text.contains("red.");
    root.isUnordered |= !types.empty() && isAtomic && text.contains(".add");
  }

  /// Structures are copied as bytes, so their types are derived from where the bytes lie.
  void visitCopy(llvm::MemTransferInst& copy, Root& root) {
    for (llvm::Value* end : {copy.getRawDest(), copy.getRawSource()}) {
      llvm::Value* place = end->stripPointerCasts();
      if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(place))
        noteLeaves(local->getAllocatedType(), root.evidence.moved);
      else if (auto* element = llvm::dyn_cast<llvm::GEPOperator>(place);
               element && !element->getResultElementType()->isIntegerTy(8))
        noteLeaves(element->getResultElementType(), root.evidence.moved);
    }
  }

  void visitIntrinsic(llvm::CallBase& call, llvm::Function& callee, Root& root, size_t number) {
    const llvm::StringRef name = callee.getName();
    if (name.starts_with("llvm.nvvm.ptr.") || name.starts_with("llvm.ptrmask")) {
      follow(&call, number);
      return;
    }
    if (!name.contains("atomic"))
      return;
    for (llvm::Value* operand : llvm::drop_begin(call.args())) {
      noteStored(operand, root.evidence);
      root.isUnordered |= operand->getType()->isFPOrFPVectorTy() && name.contains(".add.");
    }
  }

  void visitReturn(llvm::ReturnInst& leave, size_t number) {
    llvm::Function* function = leave.getFunction();
    if (function != &kernel_)
      for (llvm::User* user : function->users())
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(user))
          follow(call, number);
  }

  const llvm::DataLayout& layout_;
  llvm::Function& kernel_;
  std::vector<std::unique_ptr<Root>> roots_;
  std::set<std::pair<llvm::Value*, size_t>> reached_;
  llvm::SmallVector<std::pair<llvm::Value*, size_t>> waiting_;
};

} // namespace

llvm::json::Array describeElements(const llvm::Module& module, llvm::StringRef kernel,
                                   llvm::TargetMachine& machine) {
  const auto copy = llvm::CloneModule(module);
  // The machine may be another one than the functions are for.
  for (llvm::Function& function : *copy)
    for (const char* attribute : {"target-cpu", "target-features"})
      function.removeFnAttr(attribute);
  runPasses(*copy, machine, kTidy, {});
  return Walk(*copy, *copy->getFunction(kernel)).describe();
}

} // namespace mneme::compile
