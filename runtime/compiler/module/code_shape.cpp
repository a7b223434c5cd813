#include "runtime/compiler/module/code_shape.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <map>
#include <set>

#include "runtime/compiler/ir/struct_reads.h"
#include "runtime/compiler/pass_pipeline.h"

namespace mneme::compile {
namespace {

using llvm::json::Array;
using llvm::json::Object;

/// No pass here turns, splits or unrolls a loop: what is found is what the source has.
constexpr const char* kTidy = "always-inline,function(sroa,early-cse,simplifycfg),"
                              "cgscc(inline,function(sroa,early-cse,"
                              "instcombine<no-verify-fixpoint>,simplifycfg))";

/// A member of a structure that is passed by value: its argument, and its offset in bytes.
using Member = std::pair<unsigned, uint64_t>;

/// What has to be constant.
struct Needs {
  std::set<unsigned> args;
  std::set<Member> members;
  std::set<unsigned> contents;
  bool block = false;
  bool grid = false;
  bool varies = false;

  void add(const Needs& other) {
    args.insert(other.args.begin(), other.args.end());
    members.insert(other.members.begin(), other.members.end());
    contents.insert(other.contents.begin(), other.contents.end());
    block |= other.block;
    grid |= other.grid;
    varies |= other.varies;
  }
  Object json(const llvm::DebugLoc& place) const {
    Array places;
    for (const auto& [argument, offset] : members)
      places.push_back(Array{argument, offset});
    return Object{{"args", Array(args)},
                  {"members", std::move(places)},
                  {"contents", Array(contents)},
                  {"block", block},
                  {"grid", grid},
                  {"varies", varies},
                  {"line", place ? place.getLine() : 0}};
  }
};

bool isInParameters(const llvm::Argument& argument) {
  return argument.hasByValAttr() || argument.hasByRefAttr();
}

/// Whether a block ends in one of several places, as its terminator's first operand says.
bool isFork(const llvm::BasicBlock& block) {
  const llvm::Instruction* end = block.getTerminator();
  return end->getNumSuccessors() > 1 && !llvm::isa<llvm::InvokeInst>(end);
}

llvm::Value* conditionOf(const llvm::BasicBlock& block) {
  return block.getTerminator()->getOperand(0);
}

/// What a pointer leads into; on AMD GPUs arguments go through integers to become generic.
llvm::Value* baseOf(llvm::Value* pointer) {
  llvm::Value* base = llvm::getUnderlyingObject(pointer);
  const auto* back = llvm::dyn_cast<llvm::IntToPtrInst>(base);
  const auto* there = back ? llvm::dyn_cast<llvm::PtrToIntInst>(back->getOperand(0)) : nullptr;
  return there ? baseOf(there->getOperand(0)) : base;
}

/// Walks from values to what they are computed of.
class Kernel {
public:
  explicit Kernel(llvm::Function& function) : function_(function), tree_(function), loops_(tree_) {
    for (llvm::Instruction& instruction : llvm::instructions(function))
      noteWrites(instruction);
    for (llvm::Argument& argument : function.args())
      if (ir::structByValue(argument))
        noteMembers(argument);
  }

  Object describe() {
    Array loops, branches, loads, fields;
    for (llvm::Loop* loop : loops_.getLoopsInPreorder())
      loops.push_back(needsOf(*loop).json(loop->getStartLoc()));
    for (llvm::BasicBlock& block : function_)
      if (isFork(block) && !counting_.contains(&block))
        branches.push_back(needsOf(conditionOf(block)).json(block.getTerminator()->getDebugLoc()));
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
        describeLoad(*load, loads, fields);
      // A short branch is a choice of values by now.
      if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction))
        if (const Needs needs = needsOf(choice->getCondition()); !needs.varies)
          branches.push_back(needs.json(choice->getDebugLoc()));
    }
    return Object{{"loops", std::move(loops)},  {"branches", std::move(branches)},
                  {"loads", std::move(loads)},  {"fields", std::move(fields)},
                  {"written", Array(written_)}, {"scattered", Array(scattered_)}};
  }

private:
  using Waiting = llvm::SmallVector<llvm::Value*>;

  void noteWrites(llvm::Instruction& instruction) {
    if (!instruction.mayWriteToMemory())
      return;
    for (llvm::Value* operand : instruction.operands())
      if (operand->getType()->isPointerTy())
        if (auto* base = llvm::dyn_cast<llvm::Argument>(baseOf(operand)))
          written_.insert(base->getArgNo());
  }

  /// A read of several places, and of what the kernel may change, counts as one of the whole.
  void noteMembers(llvm::Argument& argument) {
    const ir::StructReads reads = ir::readsOfStruct(argument);
    if (reads.isWritten)
      return;
    std::set<const llvm::Instruction*> several;
    for (const ir::StructRead& read : reads.values) {
      const Member member(argument.getArgNo(), read.offset);
      const auto [known, isNew] = members_.insert({read.instruction, member});
      if (!isNew && known->second != member)
        several.insert(read.instruction);
    }
    for (const llvm::Instruction* instruction : several)
      members_.erase(instruction);
  }

  /// A loop is counted where leaving it hangs on nothing that varies.
  Needs needsOf(llvm::Loop& loop) {
    if (const auto known = known_.find(&loop); known != known_.end())
      return known->second;
    known_[&loop] = {}; // its own count does not hang on its count
    llvm::SmallVector<llvm::BasicBlock*> ends;
    loop.getExitingBlocks(ends);
    Needs all;
    all.varies = ends.empty();
    for (llvm::BasicBlock* end : ends) {
      Needs needs;
      if (isFork(*end))
        needs = needsOf(conditionOf(*end));
      else
        needs.varies = true;
      if (!needs.varies) {
        counting_.insert(end);
        return known_[&loop] = needs;
      }
      all.add(needs);
    }
    counting_.insert(ends.begin(), ends.end());
    return known_[&loop] = all;
  }

  Needs needsOf(llvm::Value* root) {
    Needs needs;
    Waiting waiting = {root};
    std::set<llvm::Value*> seen;
    while (!waiting.empty() && !needs.varies)
      if (llvm::Value* value = waiting.pop_back_val(); seen.insert(value).second)
        visit(*value, waiting, needs);
    return needs;
  }

  void visit(llvm::Value& value, Waiting& waiting, Needs& needs) {
    if (llvm::isa<llvm::Constant>(value))
      return;
    if (const auto member = members_.find(&value); member != members_.end())
      needs.members.insert(member->second);
    else if (auto* argument = llvm::dyn_cast<llvm::Argument>(&value))
      needs.args.insert(argument->getArgNo());
    else if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&value))
      visitPhi(*phi, waiting, needs);
    else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&value))
      visitLoad(*load, waiting, needs);
    else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&value))
      visitCall(*call, waiting, needs);
    else if (auto* user = llvm::dyn_cast<llvm::Instruction>(&value);
             user && !user->mayReadOrWriteMemory() && !llvm::isa<llvm::AllocaInst>(user))
      waiting.append(user->op_begin(), user->op_end());
    else
      needs.varies = true;
  }

  /// In a loop, the value of a round; elsewhere, what the branches that lead here say.
  void visitPhi(llvm::PHINode& phi, Waiting& waiting, Needs& needs) {
    waiting.append(phi.incoming_values().begin(), phi.incoming_values().end());
    llvm::BasicBlock& block = *phi.getParent();
    if (llvm::Loop* loop = loops_.getLoopFor(&block); loop && loop->getHeader() == &block) {
      needs.add(needsOf(*loop));
      return;
    }
    const auto* top = tree_.getNode(&block)->getIDom();
    for (llvm::BasicBlock* from : phi.blocks())
      for (const auto* node = tree_.getNode(from); node; node = node->getIDom()) {
        if (isFork(*node->getBlock()))
          waiting.push_back(conditionOf(*node->getBlock()));
        if (node == top)
          break;
      }
  }

  void visitLoad(llvm::LoadInst& load, Waiting& waiting, Needs& needs) {
    llvm::Value* base = baseOf(load.getPointerOperand());
    const auto* argument = llvm::dyn_cast<llvm::Argument>(base);
    const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(base);
    const auto* call = llvm::dyn_cast<llvm::CallBase>(base);
    if (load.isVolatile() || load.isAtomic())
      needs.varies = true;
    else if (argument && isInParameters(*argument))
      needs.args.insert(argument->getArgNo());
    else if (argument && !written_.contains(argument->getArgNo()))
      needs.contents.insert(argument->getArgNo());
    else if (call && isDimensions(*call))
      needs.block = needs.grid = true;
    else if (!table || !table->isConstant())
      needs.varies = true;
    pushIndices(load.getPointerOperand(), waiting);
  }

  /// What decides which place below its base a pointer means.
  static void pushIndices(llvm::Value* pointer, Waiting& waiting) {
    while (auto* user = llvm::dyn_cast<llvm::Operator>(pointer)) {
      if (auto* place = llvm::dyn_cast<llvm::GEPOperator>(user))
        waiting.append(place->idx_begin(), place->idx_end());
      else if (!llvm::Instruction::isCast(user->getOpcode()))
        return;
      pointer = user->getOperand(0);
    }
  }

  /// AMD GPUs have their dimensions in memory.
  static bool isDimensions(const llvm::CallBase& call) {
    const llvm::Function* callee = call.getCalledFunction();
    return callee && (callee->getName() == "llvm.amdgcn.implicitarg.ptr" ||
                      callee->getName() == "llvm.amdgcn.dispatch.ptr");
  }

  static void visitCall(llvm::CallBase& call, Waiting& waiting, Needs& needs) {
    const llvm::Function* callee = call.getCalledFunction();
    llvm::StringRef name = callee ? callee->getName() : "";
    const bool isRegister = name.consume_front("llvm.nvvm.read.ptx.sreg.");
    if (isRegister && name.starts_with("ntid."))
      needs.block = true;
    else if (isRegister && name.starts_with("nctaid."))
      needs.grid = true;
    else if (isRegister || name.starts_with("llvm.amdgcn.") || call.isConvergent() ||
             !call.doesNotAccessMemory())
      needs.varies = true;
    else
      waiting.append(call.arg_begin(), call.arg_end());
  }

  void describeLoad(llvm::LoadInst& load, Array& loads, Array& fields) {
    llvm::Value* base = baseOf(load.getPointerOperand());
    const auto* argument = llvm::dyn_cast<llvm::Argument>(base);
    if (!argument)
      return;
    const llvm::DataLayout& layout = function_.getParent()->getDataLayout();
    std::string type;
    llvm::raw_string_ostream(type) << *load.getType();
    if (isInParameters(*argument)) {
      llvm::APInt offset(layout.getIndexTypeSizeInBits(load.getPointerOperandType()), 0);
      if (load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true) == base)
        fields.push_back(Object{{"arg", argument->getArgNo()},
                                {"offset", offset.getSExtValue()},
                                {"type", type},
                                {"size", layout.getTypeStoreSize(load.getType()).getFixedValue()}});
    } else if (const Needs needs = needsOf(&load); needs.varies) {
      scattered_.insert(argument->getArgNo());
    } else {
      Object described = needs.json(load.getDebugLoc());
      described["arg"] = argument->getArgNo();
      described["type"] = type;
      loads.push_back(std::move(described));
    }
  }

  llvm::Function& function_;
  llvm::DominatorTree tree_;
  llvm::LoopInfo loops_;
  std::set<unsigned> written_;
  std::set<unsigned> scattered_;
  std::map<const llvm::Value*, Member> members_; ///< reads of members
  std::map<llvm::Loop*, Needs> known_;
  std::set<llvm::BasicBlock*> counting_; ///< ends of loops that belong to their counts
};

bool isCounted(const llvm::Instruction& instruction) {
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return !intrinsic || !intrinsic->isAssumeLikeIntrinsic();
}

} // namespace

Object describeShape(const llvm::Module& module, llvm::StringRef kernel,
                     llvm::TargetMachine& machine) {
  const auto copy = llvm::CloneModule(module);
  // The machine may be another one than the functions are for.
  for (llvm::Function& function : *copy)
    for (const char* attribute : {"target-cpu", "target-features"})
      function.removeFnAttr(attribute);
  runPasses(*copy, machine, kTidy, {});
  return Kernel(*copy->getFunction(kernel)).describe();
}

Object countCode(llvm::Module& module) {
  int64_t instructions = 0, branches = 0, loops = 0, loads = 0;
  for (llvm::Function& function : module) {
    if (function.isDeclaration())
      continue;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      instructions += isCounted(instruction);
      loads += llvm::isa<llvm::LoadInst>(instruction);
    }
    branches += llvm::count_if(function, isFork);
    const llvm::DominatorTree tree(function);
    loops += static_cast<int64_t>(llvm::LoopInfo(tree).getLoopsInPreorder().size());
  }
  return Object{
      {"instructions", instructions}, {"branches", branches}, {"loops", loops}, {"loads", loads}};
}

} // namespace mneme::compile
