#include "runtime/compiler/module/closure_fields.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compiler/ir/closure_calls.h"
#include "runtime/compiler/ir/closure_content.h"
#include "runtime/compiler/module/constant_content.h"
#include "runtime/compiler/module/shared_arrays.h"

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

void makeFieldsConstant(llvm::Function& function, llvm::ArrayRef<const mneme_lambda_value*> values,
                        TraceText trace) {
  llvm::Argument* closure = ir::closureArgument(function);
  if (!closure)
    return;
  LoadsByOffset loads;
  findLoads(*closure, 0, loads);

  std::vector<const mneme_lambda_value*> sorted;
  for (const mneme_lambda_value* value : values)
    if (!ir::mayChange(function, value->offset, value->value.size))
      sorted.push_back(value);
  llvm::sort(sorted, [](const auto* a, const auto* b) { return a->slot > b->slot; });
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  for (const mneme_lambda_value* given : sorted) {
    for (llvm::LoadInst* load : loads[given->offset]) {
      if (layout.getTypeStoreSize(load->getType()).getFixedValue() != given->value.size)
        continue;
      llvm::Constant* constant =
          constantFrom(load->getType(),
                       {static_cast<const char*>(given->value.data), given->value.size}, layout);
      load->replaceAllUsesWith(constant);
      if (trace)
        llvm::raw_string_ostream(*trace)
            << "[LambdaSpec] Replacing slot " << given->slot << " with " << *constant << "\n";
    }
  }
}

namespace {

using Values = std::vector<const mneme_lambda_value*>;

/// All values for one call operator in the kernel.
struct Operator {
  llvm::Function* function;
  Values values;
};

std::vector<Operator> operatorsIn(llvm::Module& module, llvm::ArrayRef<mneme_lambda_value> values) {
  std::vector<Operator> operators;
  for (const mneme_lambda_value& value : values) {
    llvm::Function* function = module.getFunction(value.function ? value.function : "");
    if (!function || function->isDeclaration())
      continue;
    const auto known =
        llvm::find_if(operators, [&](const Operator& one) { return one.function == function; });
    if (known == operators.end())
      operators.push_back({function, {&value}});
    else
      known->values.push_back(&value);
  }
  return operators;
}

/// What another calls comes after that one, whose call is not inlined before.
Operator takeNext(std::vector<Operator>& operators) {
  auto next = llvm::find_if(operators, [&](const Operator& one) {
    return llvm::none_of(operators, [&](const Operator& other) {
      return other.function != one.function && ir::reaches(*other.function, *one.function);
    });
  });
  if (next == operators.end())
    next = operators.begin();
  Operator taken = std::move(*next);
  operators.erase(next);
  return taken;
}

/// Values as text that is equal for equal ones.
std::string keyOf(const Values& values) {
  std::string key;
  for (const mneme_lambda_value* value : values)
    key += std::to_string(value->offset) + ":" +
           std::string(static_cast<const char*>(value->value.data), value->value.size) + ";";
  return key;
}

/// Those values that the closure of a call has whenever the kernel gets there.
Values valuesOf(llvm::CallBase& call, const Operator& one, ir::ClosureContent& content) {
  llvm::Value& closure = *call.getArgOperand(ir::closureArgument(*one.function)->getArgNo());
  Values found;
  for (const mneme_lambda_value* value : one.values) {
    const ir::ArgumentBytes wanted{value->argument,
                                   static_cast<int64_t>(value->place + value->offset)};
    if (content.source(closure, value->offset, value->value.size) == wanted)
      found.push_back(value);
  }
  return found;
}

} // namespace

void specializeClosures(llvm::Function& kernel, llvm::ArrayRef<mneme_lambda_value> values,
                        llvm::TargetMachine& machine, TraceText trace) {
  std::vector<Operator> operators = operatorsIn(*kernel.getParent(), values);
  while (!operators.empty()) {
    const Operator one = takeNext(operators);
    if (!ir::closureArgument(*one.function))
      continue;
    llvm::SmallVector<ir::ByteRange> fields;
    for (const mneme_lambda_value* value : one.values)
      fields.push_back({value->offset, value->value.size});
    ir::exposeClosureCalls(kernel, *one.function, fields, machine);
    ir::ClosureContent content(kernel, *one.function);
    // All before any is changed: a call of the operator itself is known to hide nothing.
    std::vector<std::pair<llvm::CallBase*, Values>> calls;
    for (llvm::CallBase* call : ir::callsIn(kernel, *one.function))
      calls.emplace_back(call, valuesOf(*call, one, content));
    std::map<std::string, llvm::Function*> copies;
    for (const auto& [call, known] : calls) {
      if (known.empty())
        continue;
      llvm::Function*& copy = copies[keyOf(known)];
      if (!copy) {
        llvm::ValueToValueMapTy map;
        copy = llvm::CloneFunction(one.function, map);
        copy->setName(one.function->getName() + ".closure");
        copy->setLinkage(llvm::GlobalValue::InternalLinkage);
        copy->setVisibility(llvm::GlobalValue::DefaultVisibility);
        copy->setComdat(nullptr);
        keepLocalsInRegisters(*copy);
        makeFieldsConstant(*copy, known, trace);
      }
      call->setCalledFunction(copy);
    }
  }
}

} // namespace mneme::compile
