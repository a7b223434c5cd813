#include "passes/launch_padding.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "passes/device_module.h"
#include "passes/route_launches.h"
#include "passes/value_bytes.h"

namespace mneme::passes {
namespace {

/// What clang makes for the host to call where a kernel is launched. Calls of the vendor's
/// functions that the program has itself hand over the program's own variables.
bool isStub(const llvm::Function& function) {
  return function.getName().contains("__device_stub__");
}

/// Makes `runs` of what `structure` points to zero.
bool clear(llvm::Value& structure, llvm::ArrayRef<ByteRun> runs, llvm::Instruction& place) {
  llvm::IRBuilder<> builder(&place);
  for (const ByteRun& run : runs)
    builder.CreateMemSet(
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), &structure, run.offset),
        builder.getInt8(0), run.sizeBytes, llvm::MaybeAlign());
  return !runs.empty();
}

bool clearPadding(llvm::Value& structure, llvm::Type* type, llvm::Instruction& place) {
  return clear(structure, paddingBytes(type, place.getModule()->getDataLayout()), place);
}

/// An object without members gets no content on its way to the stub.
bool isNeverSet(const llvm::AllocaInst& variable) {
  return llvm::all_of(variable.users(), [&](const llvm::User* user) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    return (store && store->getValueOperand() == &variable) ||
           llvm::cast<llvm::Instruction>(user)->isLifetimeStartOrEnd();
  });
}

bool clearVariable(llvm::AllocaInst& variable, llvm::Instruction& place) {
  llvm::Type* type = variable.getAllocatedType();
  if (!type->isAggregateType() || variable.isArrayAllocation())
    return false;
  const uint64_t size = place.getModule()->getDataLayout().getTypeAllocSize(type).getFixedValue();
  return isNeverSet(variable) ? clear(variable, {{0, size}}, place)
                              : clearPadding(variable, type, place);
}

/// An argument of the stub that it hands on as it is: a copy in its own memory, or one that its
/// caller made for it.
bool clearParameter(llvm::Argument& parameter, llvm::Instruction& launch) {
  if (llvm::Type* type = parameter.getParamByValType())
    return clearPadding(parameter, type, launch);
  bool changed = false;
  llvm::Function& stub = *parameter.getParent();
  for (llvm::User* user : stub.users()) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    if (!call || call->getCalledOperand() != &stub)
      continue;
    if (auto* copy = llvm::dyn_cast<llvm::AllocaInst>(call->getArgOperand(parameter.getArgNo())))
      changed |= clearVariable(*copy, *call);
  }
  return changed;
}

bool clearIn(llvm::CallBase& launch, llvm::Value& list) {
  bool changed = false;
  llvm::SmallVector<llvm::Value*, 4> places{&list};
  llvm::SmallVector<llvm::Value*, 8> arguments;
  while (!places.empty())
    for (llvm::User* user : places.pop_back_val()->users()) {
      if (auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(user))
        places.push_back(element);
      else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user))
        arguments.push_back(store->getValueOperand());
    }
  for (llvm::Value* argument : arguments) {
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(argument))
      changed |= clearVariable(*variable, launch);
    else if (auto* parameter = llvm::dyn_cast<llvm::Argument>(argument))
      changed |= clearParameter(*parameter, launch);
  }
  return changed;
}

} // namespace

bool clearLaunchPadding(llvm::Module& module) {
  if (isDeviceModule(module))
    return false;
  bool changed = false;
  for (llvm::Function& vendor : module) {
    const std::optional<unsigned> list = launchArgumentList(vendor);
    if (!list)
      continue;
    llvm::SmallVector<llvm::CallBase*> launches;
    for (llvm::User* user : vendor.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user);
          call && call->getCalledOperand() == &vendor && isStub(*call->getFunction()))
        launches.push_back(call);
    for (llvm::CallBase* launch : launches)
      if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(launch->getArgOperand(*list)))
        changed |= clearIn(*launch, *variable);
  }
  return changed;
}

llvm::PreservedAnalyses ClearLaunchPaddingPass::run(llvm::Module& module,
                                                    llvm::ModuleAnalysisManager&) {
  return clearLaunchPadding(module) ? llvm::PreservedAnalyses::none()
                                    : llvm::PreservedAnalyses::all();
}

} // namespace mneme::passes
