#include "passes/lambdas.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

namespace mneme::passes {
namespace {

constexpr llvm::StringLiteral kVariableCall = "_ZN7proteus12jit_variable";
constexpr llvm::StringLiteral kRegisterCall = "_ZN7proteus15register_lambda";
constexpr llvm::StringLiteral kCallOperator = "::operator()";
// jit_variable(value, position, offset, lambda) and register_lambda(lambda, symbol)
constexpr unsigned kPosition = 1;
constexpr unsigned kOffset = 2;
constexpr unsigned kSymbol = 1;

/// The store that puts a value into a field, behind conversions.
const llvm::StoreInst* storeOf(const llvm::Value& value) {
  for (const llvm::User* user : value.users()) {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
        store && store->getValueOperand() == &value)
      return store;
    if (llvm::isa<llvm::CastInst>(user) || llvm::isa<llvm::FreezeInst>(user))
      if (const llvm::StoreInst* store = storeOf(*user))
        return store;
  }
  return nullptr;
}

bool fillVariable(llvm::CallBase& call) {
  const llvm::StoreInst* store = call.arg_size() > kOffset ? storeOf(call) : nullptr;
  const auto* field =
      store ? llvm::dyn_cast<llvm::GEPOperator>(store->getPointerOperand()) : nullptr;
  if (!field || !field->getSourceElementType()->isStructTy() || field->getNumIndices() != 2)
    return false;
  const auto* position = llvm::dyn_cast<llvm::ConstantInt>(field->getOperand(2));
  const llvm::DataLayout& layout = call.getModule()->getDataLayout();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(field->getType()), 0);
  if (!position || !field->accumulateConstantOffset(layout, offset))
    return false;
  llvm::Type* number = call.getArgOperand(kPosition)->getType();
  call.setArgOperand(kPosition, llvm::ConstantInt::get(number, position->getZExtValue()));
  call.setArgOperand(kOffset, llvm::ConstantInt::get(number, offset.getZExtValue()));
  return true;
}

/// "X" of "... proteus::register_lambda<X&>(X&, char const*)".
std::string registeredType(const llvm::Function& function) {
  const std::string demangled = llvm::demangle(function.getName());
  const llvm::StringRef name("register_lambda<");
  const size_t begin = demangled.find(name.str());
  if (begin == std::string::npos)
    return {};
  size_t end = begin + name.size();
  // Brackets nest, and '<' of a shift or comparison does not occur in names of closure types.
  for (int depth = 1; end < demangled.size(); ++end) {
    depth += demangled[end] == '<' ? 1 : 0;
    depth -= demangled[end] == '>' ? 1 : 0;
    if (depth == 0)
      break;
  }
  llvm::StringRef type(demangled.data() + begin + name.size(), end - begin - name.size());
  while (type.consume_back("&") || type.consume_back(" const"))
    ;
  return type.str();
}

bool fillSymbol(llvm::CallBase& call) {
  const std::string type = registeredType(*call.getCalledFunction());
  if (type.empty() || call.arg_size() <= kSymbol)
    return false;
  llvm::IRBuilder<> builder(&call);
  call.setArgOperand(kSymbol, builder.CreateGlobalString(type, "__mneme_lambda"));
  return true;
}

/// Before the last "::operator()" of a demangled name; empty if it has none.
std::string classOfOperator(const std::string& demangled) {
  const size_t end = demangled.rfind(kCallOperator.str());
  return end == std::string::npos ? std::string() : demangled.substr(0, end);
}

} // namespace

bool fillLambdaCalls(llvm::Module& module) {
  bool changed = false;
  for (llvm::Function& function : module) {
    const bool isVariable = function.getName().starts_with(kVariableCall);
    if (!isVariable && !function.getName().starts_with(kRegisterCall))
      continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users()))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user);
          call && call->getCalledFunction() == &function)
        changed |= isVariable ? fillVariable(*call) : fillSymbol(*call);
  }
  return changed;
}

std::string closureTypeOf(const llvm::Function& function) {
  if (function.arg_empty())
    return {};
  // "main::$_0", or "f()::'lambda'(int)" where other units may have the same one. An object of
  // another class with a call operator can be registered just so.
  const std::string name = function.getName().str();
  // The operator of a generic lambda is a template, "clI<arguments>E<result><parameters>": with
  // these LLVM may not demangle it, without them it is as any other.
  for (size_t at = name.find("clI"); at != std::string::npos; at = name.find("clI", at + 1)) {
    const std::string plain = name.substr(0, at) + "clEv";
    const std::string demangled = llvm::demangle(plain);
    if (demangled != plain)
      return classOfOperator(demangled);
  }
  return classOfOperator(llvm::demangle(name));
}

} // namespace mneme::passes
