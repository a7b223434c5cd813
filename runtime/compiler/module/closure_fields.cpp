#include "runtime/compiler/module/closure_fields.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/raw_ostream.h>

#include <map>
#include <vector>

#include "runtime/compiler/module/constant_content.h"

namespace mneme::compile {
namespace {

using LoadsByOffset = std::map<uint64_t, std::vector<llvm::LoadInst*>>;

void findLoads(llvm::Value& pointer, uint64_t offset, LoadsByOffset& loads) {
  for (llvm::User* user : pointer.users()) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      if (!load->isVolatile())
        loads[offset].push_back(load);
    } else if (auto* address = llvm::dyn_cast<llvm::GEPOperator>(user)) {
      const llvm::DataLayout& layout =
          llvm::cast<llvm::Instruction>(user)->getModule()->getDataLayout();
      llvm::APInt more(layout.getIndexTypeSizeInBits(address->getType()), 0);
      if (address->accumulateConstantOffset(layout, more))
        findLoads(*user, offset + more.getZExtValue(), loads);
    }
  }
}

} // namespace

void makeFieldsConstant(llvm::Function& function, const mneme_lambda_value* values, size_t count,
                        TraceText trace) {
  unsigned index = 0;
  while (index < function.arg_size() && function.getArg(index)->hasStructRetAttr())
    ++index;
  if (index == function.arg_size() || !function.getArg(index)->getType()->isPointerTy())
    return;
  LoadsByOffset loads;
  findLoads(*function.getArg(index), 0, loads);

  std::vector<const mneme_lambda_value*> sorted;
  for (size_t position = 0; position < count; ++position)
    sorted.push_back(&values[position]);
  llvm::sort(sorted, [](const auto* a, const auto* b) { return a->slot > b->slot; });
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  for (const mneme_lambda_value* given : sorted) {
    bool isTraced = false;
    for (llvm::LoadInst* load : loads[given->offset]) {
      if (layout.getTypeStoreSize(load->getType()).getFixedValue() != given->value.size)
        continue;
      llvm::Constant* constant =
          constantFrom(load->getType(),
                       {static_cast<const char*>(given->value.data), given->value.size}, layout);
      load->replaceAllUsesWith(constant);
      if (trace && !isTraced)
        llvm::raw_string_ostream(*trace)
            << "[LambdaSpec] Replacing slot " << given->slot << " with " << *constant << "\n";
      isTraced = true;
    }
  }
}

} // namespace mneme::compile
