#include "runtime/compiler/ir/unroll_pass.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Metadata.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <optional>

namespace mneme::ir {
namespace {

// This is above LLVM's own limit for loops with pragmas.
constexpr uint32_t kMaxCount = 1024;
// Instructions that a nest of loops may become; LLVM's own limit for loops with a count.
constexpr uint64_t kMostUnrolled = 16 * 1024;
// Also the beginning of what `#pragma unroll_and_jam` says.
constexpr char kUnrollMetadata[] = "llvm.loop.unroll";

using Functions = llvm::SmallPtrSet<const llvm::Function*, 8>;

bool mayLoop(const llvm::Function& function, Functions& seen);

bool callsLoops(const llvm::BasicBlock& block, Functions& seen) {
  for (const llvm::Instruction& instruction : block) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (callee && mayLoop(*callee, seen))
      return true;
  }
  return false;
}

/// Whether a function, or one that it calls, has a loop. Those already seen count as without.
bool mayLoop(const llvm::Function& function, Functions& seen) {
  if (function.isDeclaration() || !seen.insert(&function).second)
    return false;
  llvm::SmallVector<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, 8> edges;
  llvm::FindFunctionBackedges(function, edges);
  if (!edges.empty())
    return true;
  for (const llvm::BasicBlock& block : function)
    if (callsLoops(block, seen))
      return true;
  return false;
}

bool hasPragma(const llvm::Loop& loop) {
  const llvm::MDNode* properties = loop.getLoopID();
  if (!properties)
    return false;
  for (const llvm::MDOperand& operand : llvm::drop_begin(properties->operands())) {
    const auto* property = llvm::dyn_cast_or_null<llvm::MDNode>(operand.get());
    const auto* name = property && property->getNumOperands() > 0
                           ? llvm::dyn_cast<llvm::MDString>(property->getOperand(0))
                           : nullptr;
    if (name && name->getString().starts_with(kUnrollMetadata))
      return true;
  }
  return false;
}

bool isInnermost(const llvm::Loop& loop) {
  Functions seen;
  return loop.isInnermost() && llvm::none_of(loop.blocks(), [&](const llvm::BasicBlock* block) {
           return callsLoops(*block, seen);
         });
}

/// Returns whether a loop was marked.
bool markLoops(llvm::LoopInfo& loops, uint32_t count) {
  bool isChanged = false;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (hasPragma(*loop) || (count > 1 && !isInnermost(*loop)))
      continue;
    if (count == 1)
      loop->setLoopAlreadyUnrolled();
    else
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.count", count);
    isChanged = true;
  }
  return isChanged;
}

/// Instructions of a function and of what it calls; no more than `kMostUnrolled` or so.
uint64_t sizeOf(const llvm::Function& function, Functions& seen);

uint64_t sizeOf(const llvm::BasicBlock& block, Functions& seen) {
  uint64_t size = 0;
  for (const llvm::Instruction& instruction : block) {
    ++size;
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (callee && !callee->isDeclaration() && size < kMostUnrolled)
      size += sizeOf(*callee, seen);
  }
  return size;
}

uint64_t sizeOf(const llvm::Function& function, Functions& seen) {
  if (!seen.insert(&function).second)
    return 0;
  uint64_t size = 0;
  for (const llvm::BasicBlock& block : function)
    if (size < kMostUnrolled)
      size += sizeOf(block, seen);
  // Another call is another copy.
  seen.erase(&function);
  return size;
}

/// Marks the loops of a nest whose unrolled code stays small, the inner ones first.
/// \returns how many instructions the nest will have
uint64_t markFully(llvm::Loop& loop, const llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution,
                   bool& isChanged) {
  uint64_t size = 0;
  for (llvm::Loop* inner : loop)
    size += markFully(*inner, loops, evolution, isChanged);
  for (const llvm::BasicBlock* block : loop.blocks()) {
    Functions seen;
    if (loops.getLoopFor(block) == &loop)
      size += sizeOf(*block, seen);
  }
  const uint64_t count = evolution.getSmallConstantTripCount(&loop);
  if (count == 0 || count * size > kMostUnrolled || hasPragma(loop))
    return size;
  llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full");
  isChanged = true;
  return count * size;
}

bool markFully(const llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution) {
  bool isChanged = false;
  for (llvm::Loop* loop : loops)
    markFully(*loop, loops, evolution, isChanged);
  return isChanged;
}

std::optional<uint32_t> countIn(llvm::StringRef name) {
  uint32_t count = 0;
  if (!name.consume_front(kUnrollPass) || !name.consume_front("<") || !name.consume_back(">"))
    return std::nullopt;
  if (name == "full")
    return kUnrollFully;
  const bool isOurs = !name.getAsInteger(10, count);
  return isOurs && count >= 1 && count <= kMaxCount ? std::optional(count) : std::nullopt;
}

} // namespace

llvm::PreservedAnalyses UnrollPass::run(llvm::Function& function,
                                        llvm::FunctionAnalysisManager& analyses) {
  llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  const bool isChanged =
      count_ == kUnrollFully
          ? markFully(loops, analyses.getResult<llvm::ScalarEvolutionAnalysis>(function))
          : markLoops(loops, count_);
  if (!isChanged)
    return llvm::PreservedAnalyses::all();
  // Metadata: neither control flow nor values change.
  llvm::PreservedAnalyses kept = llvm::PreservedAnalyses::none();
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

void registerUnrollPass(llvm::PassBuilder& builder) {
  builder.registerPipelineParsingCallback([](llvm::StringRef name,
                                             llvm::FunctionPassManager& manager,
                                             llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
    const std::optional<uint32_t> count = countIn(name);
    if (count)
      manager.addPass(UnrollPass(*count));
    return count.has_value();
  });
}

} // namespace mneme::ir
