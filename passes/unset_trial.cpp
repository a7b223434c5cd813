#include "passes/unset_trial.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "passes/device_module.h"
#include "passes/filled_by_loops.h"
#include "passes/local_lifetime.h"
#include "passes/shielded.h"
#include "passes/unset_flow.h"
#include "passes/value_bytes.h"
#include "runtime/compiler/ir/pipeline_tuning.h"
#include "runtime/compiler/ir/target_library.h"

namespace mneme::passes {
namespace {

using Functions = llvm::SmallPtrSet<const llvm::Function*, 32>;

/// Returns the functions that decide what happens to the variables: those that contain them, all
/// callers of these, and what all of them call.
Functions involved(llvm::ArrayRef<llvm::AllocaInst*> variables) {
  Functions found;
  llvm::SmallVector<const llvm::Function*, 32> pending;
  const auto add = [&](const llvm::Function* function) {
    if (function && !function->isDeclaration() && found.insert(function).second)
      pending.push_back(function);
  };
  for (const llvm::AllocaInst* variable : variables)
    add(variable->getFunction());
  llvm::SmallVector<const llvm::Function*, 32> callers;
  while (!pending.empty()) {
    callers.push_back(pending.pop_back_val());
    for (const llvm::User* user : callers.back()->users())
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(user))
        add(call->getFunction());
  }
  pending = std::move(callers);
  while (!pending.empty())
    for (const llvm::Instruction& instruction : llvm::instructions(*pending.pop_back_val()))
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        add(call->getCalledFunction());
  return found;
}

llvm::SmallVector<ByteRun> runsOf(const llvm::AllocaInst& variable, uint64_t sizeBytes) {
  if (variable.isArrayAllocation())
    return {{0, sizeBytes}};
  return valueBytes(variable.getAllocatedType(), variable.getModule()->getDataLayout());
}

/// Initialises a variable from a constant with unknown content.
void fillWith(llvm::AllocaInst& variable, const std::string& name) {
  llvm::Module& module = *variable.getModule();
  const llvm::DataLayout& layout = module.getDataLayout();
  const uint64_t sizeBytes = variable.getAllocationSize(layout)->getFixedValue();
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), sizeBytes);
  auto* content = new llvm::GlobalVariable(
      module, type, /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage, nullptr, name, nullptr,
      llvm::GlobalValue::NotThreadLocal, kGlobalSpace);
  content->setAlignment(std::max(variable.getAlign(), llvm::Align(16)));
  llvm::Type* allocated = variable.getAllocatedType();
  for (llvm::Instruction* beginning : beginningsOf(variable)) {
    llvm::IRBuilder<> builder(beginning->getParent(), std::next(beginning->getIterator()));
    if (allocated->isSingleValueType() && !variable.isArrayAllocation()) {
      builder.CreateAlignedStore(builder.CreateAlignedLoad(allocated, content, content->getAlign()),
                                 &variable, variable.getAlign());
      continue;
    }
    for (const ByteRun& run : runsOf(variable, sizeBytes))
      builder.CreateMemCpy(
          builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), &variable, run.offset),
          llvm::commonAlignment(variable.getAlign(), run.offset),
          builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), content, run.offset),
          llvm::commonAlignment(*content->getAlign(), run.offset), run.sizeBytes);
  }
}

/// Allows every function to be inlined, and no simplification that is wrong for NaNs.
void prepare(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::OptimizeNone);
  function.removeFnAttr(llvm::Attribute::NoInline);
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (llvm::isa<llvm::FPMathOperator>(instruction))
      instruction.setFastMathFlags(llvm::FastMathFlags());
}

Bitcode copyWithContents(llvm::Module& module, llvm::ArrayRef<llvm::AllocaInst*> variables) {
  const Functions needed = involved(variables);
  llvm::ValueToValueMapTy map;
  const std::unique_ptr<llvm::Module> copy =
      llvm::CloneModule(module, map, [&](const llvm::GlobalValue* global) {
        const auto* function = llvm::dyn_cast<llvm::Function>(global);
        return !function || needed.contains(function);
      });
  for (size_t index = 0; index < variables.size(); ++index)
    fillWith(*llvm::cast<llvm::AllocaInst>(map[variables[index]]),
             kUnknownContent + std::to_string(index));
  llvm::StripDebugInfo(*copy);
  for (llvm::Function& function : *copy)
    prepare(function);
  return bitcodeOf(*copy);
}

void simplify(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, ir::clangTuning("3"));
  functions.registerPass([library = ir::targetLibraryOf(machine.getTargetTriple())] {
    return llvm::TargetLibraryAnalysis(library);
  });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder
      .buildModuleSimplificationPipeline(llvm::OptimizationLevel::O3,
                                         llvm::ThinOrFullLTOPhase::None)
      .run(module, modules);
}

/// Returns whether a copy of the unknown content is read in the variable that it goes to.
bool isCopyRead(llvm::MemIntrinsic& copy) {
  auto* variable = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(copy.getDest()));
  if (!variable || !variable->isStaticAlloca())
    return true;
  llvm::DominatorTree tree(*copy.getFunction());
  return !isFilledBeforeRead(*variable, copy, tree);
}

/// Returns whether anything depends on the initial content of a variable.
bool isContentUsed(llvm::GlobalVariable& content) {
  content.removeDeadConstantUsers();
  llvm::SmallVector<llvm::Value*, 4> places{&content};
  llvm::SmallVector<llvm::LoadInst*, 4> loads;
  while (!places.empty())
    for (llvm::User* user : places.pop_back_val()->users()) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user))
        loads.push_back(load);
      else if (llvm::isa<llvm::GEPOperator, llvm::AddrSpaceCastOperator>(user))
        places.push_back(user);
      else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(user); !copy || isCopyRead(*copy))
        return true;
    }
  return llvm::any_of(loads, [](llvm::LoadInst* load) {
    return isDependedOn(*load, llvm::DominatorTree(*load->getFunction()));
  });
}

} // namespace

llvm::BitVector readUnset(llvm::Module& module, llvm::ArrayRef<llvm::AllocaInst*> variables) {
  llvm::BitVector found(variables.size());
  if (variables.empty())
    return found;
  const Bitcode copy = copyWithContents(module, variables);
  const std::string problem =
      runShielded(copy, [&](llvm::Module& trial, llvm::TargetMachine& machine) -> std::string {
        simplify(trial, machine);
        for (size_t index = 0; index < variables.size(); ++index)
          if (llvm::GlobalVariable* const content =
                  trial.getGlobalVariable(kUnknownContent + std::to_string(index));
              content && isContentUsed(*content))
            found.set(index);
        return {};
      });
  if (!problem.empty())
    found.set();
  return found;
}

} // namespace mneme::passes
