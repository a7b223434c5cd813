#include "runtime/compiler/reasons/loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "runtime/compiler/ir/target_library.h"

namespace mneme::compile {
namespace {

constexpr unsigned kShared = 3; // address spaces that NVIDIA's and AMD's GPUs have alike
constexpr unsigned kLocal = 5;
constexpr size_t kLongestCount = 400;

/// What one pass of a loop does.
struct Work {
  int64_t instructions = 0, branches = 0, calls = 0, loads = 0, stores = 0, atomics = 0;
  int64_t loadBytes = 0, storeBytes = 0, sharedBytes = 0, localBytes = 0, flops = 0;
};

int64_t lanesOf(const llvm::Type& type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type);
  return vector ? vector->getNumElements() : 1;
}

bool isLocal(const llvm::Value& pointer) {
  return pointer.getType()->getPointerAddressSpace() == kLocal ||
         llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(&pointer));
}

bool isShared(const llvm::Value& pointer) {
  const llvm::Value* base = llvm::getUnderlyingObject(&pointer);
  return pointer.getType()->getPointerAddressSpace() == kShared ||
         base->getType()->getPointerAddressSpace() == kShared;
}

void addAccess(const llvm::Value& pointer, int64_t bytes, int64_t& otherwise, Work& work) {
  (isShared(pointer) ? work.sharedBytes : isLocal(pointer) ? work.localBytes : otherwise) += bytes;
}

/// Not what only begins alike: llvm.nvvm.fmax.f.
bool isFused(llvm::StringRef name) {
  return name.starts_with("llvm.fma.") || name.starts_with("llvm.fmuladd.") ||
         name.starts_with("llvm.nvvm.fma.");
}

void addCall(const llvm::CallBase& call, Work& work) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee && isFused(callee->getName()) && call.getType()->isFPOrFPVectorTy())
    work.flops += 2 * lanesOf(*call.getType());
  else if (!callee || !callee->isIntrinsic())
    ++work.calls;
}

void addArithmetic(const llvm::Instruction& instruction, Work& work) {
  switch (instruction.getOpcode()) {
  case llvm::Instruction::FAdd:
  case llvm::Instruction::FSub:
  case llvm::Instruction::FMul:
  case llvm::Instruction::FDiv:
  case llvm::Instruction::FRem:
    work.flops += lanesOf(*instruction.getType());
    break;
  default:
    break;
  }
}

void add(const llvm::Instruction& instruction, const llvm::DataLayout& layout, Work& work) {
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (intrinsic && intrinsic->isAssumeLikeIntrinsic())
    return;
  ++work.instructions;
  work.branches += instruction.isTerminator() && instruction.getNumSuccessors() > 1;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    ++work.loads;
    addAccess(*load->getPointerOperand(),
              static_cast<int64_t>(layout.getTypeStoreSize(load->getType()).getKnownMinValue()),
              work.loadBytes, work);
  } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    ++work.stores;
    const llvm::Type* type = store->getValueOperand()->getType();
    addAccess(*store->getPointerOperand(),
              static_cast<int64_t>(
                  layout.getTypeStoreSize(const_cast<llvm::Type*>(type)).getKnownMinValue()),
              work.storeBytes, work);
  } else if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) {
    ++work.atomics;
  } else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    addCall(*call, work);
  } else {
    addArithmetic(instruction, work);
  }
}

Work workOf(const llvm::Loop& loop, const llvm::LoopInfo& loops, const llvm::DataLayout& layout) {
  Work work;
  for (const llvm::BasicBlock* block : loop.blocks())
    if (loops.getLoopFor(block) == &loop)
      for (const llvm::Instruction& instruction : *block)
        add(instruction, layout, work);
  return work;
}

std::string backedgesOf(llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const llvm::SCEV* count = evolution.getBackedgeTakenCount(&loop);
  if (llvm::isa<llvm::SCEVCouldNotCompute>(count))
    return {};
  std::string text;
  llvm::raw_string_ostream stream(text);
  count->print(stream);
  stream.flush();
  return llvm::json::fixUTF8(llvm::StringRef(text).take_front(kLongestCount));
}

llvm::json::Object described(llvm::Loop& loop, llvm::LoopInfo& loops,
                             llvm::ScalarEvolution& evolution, const llvm::DataLayout& layout) {
  const llvm::Function& function = *loop.getHeader()->getParent();
  const llvm::DebugLoc place = loop.getStartLoc();
  const Work work = workOf(loop, loops, layout);
  return llvm::json::Object{
      {"function", llvm::json::fixUTF8(function.getName())},
      {"file", place ? llvm::json::fixUTF8(place->getFilename()) : std::string()},
      {"line", place ? place.getLine() : 0},
      {"depth", loop.getLoopDepth()},
      {"is_innermost", loop.isInnermost()},
      {"is_vectorized", llvm::getBooleanLoopAttribute(&loop, "llvm.loop.isvectorized")},
      {"trip_count", evolution.getSmallConstantTripCount(&loop)},
      {"max_trip_count", evolution.getSmallConstantMaxTripCount(&loop)},
      {"trip_multiple", evolution.getSmallConstantTripMultiple(&loop)},
      {"backedges", backedgesOf(loop, evolution)},
      {"instructions", work.instructions},
      {"branches", work.branches},
      {"calls", work.calls},
      {"loads", work.loads},
      {"stores", work.stores},
      {"atomics", work.atomics},
      {"load_bytes", work.loadBytes},
      {"store_bytes", work.storeBytes},
      {"shared_bytes", work.sharedBytes},
      {"local_bytes", work.localBytes},
      {"flops", work.flops}};
}

} // namespace

llvm::json::Array describeLoops(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loopAnalyses;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  functions.registerPass(
      [&] { return llvm::TargetLibraryAnalysis(ir::targetLibraryOf(machine.getTargetTriple())); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loopAnalyses);
  builder.crossRegisterProxies(loopAnalyses, functions, callGraph, modules);
  llvm::json::Array told;
  for (llvm::Function& function : module) {
    if (function.isDeclaration())
      continue;
    llvm::LoopInfo& loops = functions.getResult<llvm::LoopAnalysis>(function);
    auto& evolution = functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (llvm::Loop* loop : loops.getLoopsInPreorder())
      told.push_back(described(*loop, loops, evolution, module.getDataLayout()));
  }
  return told;
}

} // namespace mneme::compile
