#include "runtime/compile/placed_globals.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <string>

#include "runtime/base/error.h"

namespace mneme::compile {
namespace {

constexpr unsigned kGenericSpace = 0;
constexpr unsigned kGlobalSpace = 1;

bool canBePlaced(const llvm::GlobalVariable& variable) {
  const unsigned space = variable.getAddressSpace();
  return space == kGenericSpace || space == kGlobalSpace;
}

/// Aliases must name variables; their users can name the variable itself.
void resolveAliases(llvm::Module& module, const llvm::GlobalVariable& variable) {
  for (llvm::GlobalAlias& alias : llvm::make_early_inc_range(module.aliases()))
    if (alias.getAliaseeObject() == &variable) {
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
  resolveAliases(module, variable);
  llvm::removeFromUsedLists(
      module, [&](llvm::Constant* used) { return used->stripPointerCasts() == &variable; });
  variable.setInitializer(nullptr);
  if (variable.getAddressSpace() == kGlobalSpace)
    replaceCasts(variable, generic);
  variable.replaceAllUsesWith(llvm::ConstantExpr::getIntToPtr(number, variable.getType()));
  variable.eraseFromParent();
}

} // namespace

void placeGlobals(llvm::Module& module, const mneme_global_place* places, size_t count) {
  for (size_t index = 0; index < count; ++index) {
    const mneme_global_place& wanted = places[index];
    if (!wanted.name || !*wanted.name || wanted.address == 0)
      throw Error(ErrorCode::InvalidArgument,
                  "the request places a device variable without a name or an address");
    llvm::GlobalVariable* variable = module.getNamedGlobal(wanted.name);
    if (variable && canBePlaced(*variable))
      place(module, *variable, wanted.address);
  }
}

} // namespace mneme::compile
