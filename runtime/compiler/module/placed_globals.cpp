#include "runtime/compiler/module/placed_globals.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <utility>
#include <vector>

#include "runtime/compiler/ir/compat.h"
#include "runtime/core/abi/variable_names.h"
#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

constexpr unsigned kGenericSpace = 0;
constexpr unsigned kGlobalSpace = 1;
constexpr unsigned kConstantSpace = 4;

/// Constant memory of AMD GPUs is global memory that is only read.
bool canBePlaced(const llvm::GlobalVariable& variable) {
  const unsigned space = variable.getAddressSpace();
  return space == kGenericSpace || space == kGlobalSpace ||
         (space == kConstantSpace && compat::moduleTriple(*variable.getParent()).isAMDGCN());
}

bool isAliasOf(const llvm::GlobalAlias& alias, const llvm::GlobalVariable& variable) {
  // LLVM 19 does not look through address spaces by itself.
  return alias.getAliaseeObject() == &variable ||
         alias.getAliasee()->stripPointerCasts() == &variable;
}

/// Aliases must name variables; their users can name the variable itself.
void resolveAliases(llvm::Module& module, const llvm::GlobalVariable& variable) {
  for (llvm::GlobalAlias& alias : llvm::make_early_inc_range(module.aliases()))
    if (isAliasOf(alias, variable)) {
      alias.replaceAllUsesWith(alias.getAliasee());
      alias.eraseFromParent();
    }
}

/// A global address is a generic address of the same value, so casts between the two vanish.
void replaceCasts(llvm::GlobalVariable& variable, llvm::Constant* generic) {
  llvm::SmallVector<llvm::User*, 16> users(variable.users());
  for (llvm::User* user : users) {
    const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(user);
    if (!cast || cast->getType() != generic->getType())
      continue;
    user->replaceAllUsesWith(generic);
    if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(user))
      instruction->eraseFromParent();
  }
  variable.removeDeadConstantUsers();
}

void place(llvm::Module& module, llvm::GlobalVariable& variable, uint64_t address) {
  llvm::LLVMContext& context = module.getContext();
  auto* number = llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), address);
  auto* generic =
      llvm::ConstantExpr::getIntToPtr(number, llvm::PointerType::get(context, kGenericSpace));
  // AMD GPUs read global memory faster than what may be anything.
  if (variable.getAddressSpace() == kGlobalSpace && !compat::moduleTriple(module).isAMDGCN())
    replaceCasts(variable, generic);
  variable.replaceAllUsesWith(llvm::ConstantExpr::getIntToPtr(number, variable.getType()));
  variable.eraseFromParent();
}

/// Adds the constant that holds the address of `variable` once the image is loaded. LLVM must not
/// assume its initial value, nor drop it while functions use it.
llvm::GlobalVariable& addPlace(llvm::Module& module, const llvm::GlobalVariable& variable) {
  llvm::PointerType* type = variable.getType();
  auto* place = new llvm::GlobalVariable(
      module, type, /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
      llvm::ConstantPointerNull::get(type), placeVariable(variable.getName().str()),
      /*InsertBefore=*/nullptr, llvm::GlobalValue::NotThreadLocal, kConstantSpace,
      /*isExternallyInitialized=*/true);
  place->setAlignment(llvm::Align(8));
  return *place;
}

/// Reads the address at the entry of `function`, and so outside of its loops.
llvm::Value* readPlace(llvm::Function& function, const llvm::GlobalVariable& variable,
                       llvm::GlobalVariable& place) {
  llvm::BasicBlock& entry = function.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  llvm::LLVMContext& context = function.getContext();
  llvm::LoadInst* address = builder.CreateAlignedLoad(variable.getType(), &place, llvm::Align(8),
                                                      variable.getName() + ".place");
  llvm::MDNode* nothing = llvm::MDNode::get(context, {});
  address->setMetadata(llvm::LLVMContext::MD_invariant_load, nothing);
  address->setMetadata(llvm::LLVMContext::MD_noundef, nothing);
  address->setMetadata(llvm::LLVMContext::MD_nonnull, nothing);
  const auto number = [&](uint64_t value) {
    return llvm::MDNode::get(context,
                             llvm::MDBuilder(context).createConstant(
                                 llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), value)));
  };
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  if (const uint64_t size = layout.getTypeAllocSize(variable.getValueType()).getFixedValue())
    address->setMetadata(llvm::LLVMContext::MD_dereferenceable, number(size));
  if (const llvm::MaybeAlign alignment = variable.getAlign())
    address->setMetadata(llvm::LLVMContext::MD_align, number(alignment->value()));
  return address;
}

void placeIndirectly(llvm::Module& module, llvm::GlobalVariable& variable) {
  llvm::convertUsersOfConstantsToInstructions({&variable});
  variable.removeDeadConstantUsers();
  llvm::GlobalVariable* place = nullptr;
  llvm::DenseMap<llvm::Function*, llvm::Value*> addresses;
  for (llvm::Use& use : llvm::make_early_inc_range(variable.uses())) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(use.getUser());
    if (!instruction)
      throw Error(ErrorCode::Unsupported, "a constant holds the address of device variable '" +
                                              variable.getName().str() +
                                              "', which is not known before the kernel is loaded");
    if (!place)
      place = &addPlace(module, variable);
    llvm::Value*& address = addresses[instruction->getFunction()];
    if (!address)
      address = readPlace(*instruction->getFunction(), variable, *place);
    use.set(address);
  }
  variable.replaceAllUsesWith(llvm::PoisonValue::get(variable.getType())); // debug information
  variable.eraseFromParent();
}

void detach(llvm::Module& module, llvm::GlobalVariable& variable) {
  resolveAliases(module, variable);
  llvm::removeFromUsedLists(
      module, [&](llvm::Constant* used) { return used->stripPointerCasts() == &variable; });
  variable.setInitializer(nullptr);
}

} // namespace

void placeGlobals(llvm::Module& module, const mneme_global_place* places, size_t count) {
  std::vector<std::pair<llvm::GlobalVariable*, uint64_t>> placed;
  for (size_t index = 0; index < count; ++index) {
    const mneme_global_place& wanted = places[index];
    if (!wanted.name || !*wanted.name)
      throw Error(ErrorCode::InvalidArgument,
                  "the request places a device variable without a name");
    llvm::GlobalVariable* variable = module.getNamedGlobal(wanted.name);
    if (variable && canBePlaced(*variable))
      placed.emplace_back(variable, wanted.address);
  }
  // Placed variables may be initialised with each other's addresses.
  for (const auto& [variable, address] : placed)
    detach(module, *variable);
  for (const auto& [variable, address] : placed)
    if (address != 0)
      place(module, *variable, address);
    else
      placeIndirectly(module, *variable);
}

} // namespace mneme::compile
