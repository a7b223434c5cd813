#include "passes/lambdas.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include "runtime/compiler/ir/closure_content.h"

namespace mneme::passes {
namespace {

// include/proteus/JitInterface.h: jit_variable(value, slot), detail::noteClosure(begin, end, note)
constexpr llvm::StringLiteral kVariableCall = "_ZN7proteus12jit_variable";
constexpr llvm::StringLiteral kNoteCall = "_ZN7proteus6detail11noteClosure";
constexpr llvm::StringLiteral kCallOperator = "::operator()";
constexpr unsigned kSlot = 1;
constexpr unsigned kEnd = 1;
constexpr unsigned kNote = 2;

/// A field of a closure that is filled by jit_variable().
struct Field {
  uint64_t slot;
  uint64_t offset;
  uint64_t sizeBytes;
};
using Fields = llvm::MapVector<llvm::StructType*, llvm::SmallVector<Field>>;

/// Returns the store that puts a value, perhaps converted, into a field.
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

/// Passes the number of its field to a call of jit_variable().
bool fillVariable(llvm::CallBase& call, Fields& fields) {
  const llvm::StoreInst* store = call.arg_size() > kSlot ? storeOf(call) : nullptr;
  const auto* address =
      store ? llvm::dyn_cast<llvm::GEPOperator>(store->getPointerOperand()) : nullptr;
  auto* type =
      address ? llvm::dyn_cast<llvm::StructType>(address->getSourceElementType()) : nullptr;
  if (!type || address->getNumIndices() != 2)
    return false;
  const auto* position = llvm::dyn_cast<llvm::ConstantInt>(address->getOperand(2));
  const llvm::DataLayout& layout = call.getModule()->getDataLayout();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
  if (!position || !address->accumulateConstantOffset(layout, offset))
    return false;
  const Field field{position->getZExtValue(), offset.getZExtValue(),
                    layout.getTypeStoreSize(store->getValueOperand()->getType()).getFixedValue()};
  llvm::SmallVector<Field>& known = fields[type];
  if (llvm::none_of(known, [&](const Field& one) { return one.slot == field.slot; }))
    known.push_back(field);
  call.setArgOperand(kSlot, llvm::ConstantInt::get(call.getArgOperand(kSlot)->getType(),
                                                   position->getZExtValue()));
  return true;
}

/// "X" of "... proteus::detail::noteClosure<X>(X const*, ...)".
std::string notedType(const llvm::Function& function) {
  const std::string demangled = llvm::demangle(function.getName());
  const llvm::StringRef name("noteClosure<");
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
  return type.str();
}

/// Returns whether no call operator of the type in this unit changes the field.
bool isConstant(const Field& field, llvm::StringRef type, llvm::Module& module) {
  return llvm::none_of(module, [&](llvm::Function& function) {
    return !function.isDeclaration() && !ir::isConstMember(function) &&
           closureTypeOf(function) == type &&
           ir::mayChange(function, field.offset, field.sizeBytes);
  });
}

class Notes {
public:
  Notes(llvm::Module& module, const Fields& fields) : module_(module), fields_(fields) {}

  bool fill(llvm::CallBase& call) {
    const std::string type = notedType(*call.getCalledFunction());
    const auto* end = call.arg_size() > kNote
                          ? llvm::dyn_cast<llvm::GEPOperator>(call.getArgOperand(kEnd))
                          : nullptr;
    auto* closure = end ? llvm::dyn_cast<llvm::StructType>(end->getSourceElementType()) : nullptr;
    const auto known = fields_.find(closure);
    if (type.empty() || known == fields_.end())
      return false;
    llvm::GlobalVariable*& note = notes_[type];
    if (!note)
      note = make(type, known->second);
    call.setArgOperand(kNote, note);
    return true;
  }

private:
  llvm::GlobalVariable* make(llvm::StringRef type, llvm::ArrayRef<Field> fields) {
    llvm::LLVMContext& context = module_.getContext();
    llvm::IRBuilder<> builder(context);
    llvm::SmallVector<llvm::Constant*> rows;
    for (const Field& field : fields)
      if (isConstant(field, type, module_))
        rows.push_back(llvm::ConstantStruct::getAnon(
            {builder.getInt32(static_cast<uint32_t>(field.slot)),
             builder.getInt32(static_cast<uint32_t>(field.offset)),
             builder.getInt32(static_cast<uint32_t>(field.sizeBytes)), builder.getInt32(0)}));
    auto* rowType =
        llvm::StructType::get(context, llvm::SmallVector<llvm::Type*>(4, builder.getInt32Ty()));
    auto* table =
        variable(llvm::ConstantArray::get(llvm::ArrayType::get(rowType, rows.size()), rows), true);
    return variable(llvm::ConstantStruct::getAnon(
                        {variable(llvm::ConstantDataArray::getString(context, type), true),
                         builder.getInt64(rows.size()), table, builder.getInt64(0)}),
                    false);
  }

  llvm::GlobalVariable* variable(llvm::Constant* content, bool isConstant) {
    return new llvm::GlobalVariable(module_, content->getType(), isConstant,
                                    llvm::GlobalValue::InternalLinkage, content, "__mneme_closure");
  }

  llvm::Module& module_;
  const Fields& fields_;
  llvm::StringMap<llvm::GlobalVariable*> notes_;
};

/// Calls `visit` for each call of a function whose name begins with `name`.
template <typename Visit>
void forEachCall(llvm::Module& module, llvm::StringRef name, const Visit& visit) {
  for (llvm::Function& function : module)
    if (function.getName().starts_with(name))
      for (llvm::User* user : llvm::make_early_inc_range(function.users()))
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(user);
            call && call->getCalledFunction() == &function)
          visit(*call);
}

/// Returns what stands before the last "::operator()" in a demangled name; empty if it has none.
std::string classOfOperator(const std::string& demangled) {
  const size_t end = demangled.rfind(kCallOperator.str());
  return end == std::string::npos ? std::string() : demangled.substr(0, end);
}

/// The class whose call operator the function is, demangled; empty for other functions.
std::string calledClass(const llvm::Function& function) {
  if (function.arg_empty())
    return {};
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

} // namespace

bool fillLambdaCalls(llvm::Module& module) {
  bool changed = false;
  Fields fields;
  forEachCall(module, kVariableCall,
              [&](llvm::CallBase& call) { changed |= fillVariable(call, fields); });
  Notes notes(module, fields);
  forEachCall(module, kNoteCall, [&](llvm::CallBase& call) { changed |= notes.fill(call); });
  return changed;
}

bool isCallOperator(const llvm::Function& function) { return !calledClass(function).empty(); }

std::string closureTypeOf(const llvm::Function& function) {
  const std::string type = calledClass(function);
  // "main::$_0", or "f()::'lambda'(int)" where other units may have the same one.
  const size_t scope = type.rfind("::");
  const llvm::StringRef own =
      llvm::StringRef(type).substr(scope == std::string::npos ? 0 : scope + 2);
  return own.ends_with(")") || own.starts_with("$_") ? type : std::string();
}

} // namespace mneme::passes
