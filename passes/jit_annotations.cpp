// annotate("jit", ...): rows of llvm.global.annotations.
#include <llvm/Support/JSON.h>

#include "passes/mark_list.h"

namespace mneme::passes {
namespace {

/// Bytes of an element whose type an annotation gives as a number.
uint64_t sizeOf(int64_t type) {
  switch (type) {
  case MNEME_CONSTANT_BOOL:
  case MNEME_CONSTANT_INT8:
    return 1;
  case MNEME_CONSTANT_INT16:
  case MNEME_CONSTANT_HALF:
    return 2;
  case MNEME_CONSTANT_INT32:
  case MNEME_CONSTANT_FLOAT:
    return 4;
  case MNEME_CONSTANT_LONG_DOUBLE:
    return 16;
  default:
    return isScalar(type) ? 8 : 0;
  }
}

/// The description of one argument as JSON text.
class JsonMark {
public:
  JsonMark(llvm::StringRef text, MarkList& marks) : marks_(marks) {
    if (llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text)) {
      value_ = std::move(*parsed);
    } else {
      llvm::consumeError(parsed.takeError());
      marks_.fatal("JIT annotation is not JSON: " + text);
      return;
    }
    object_ = value_.getAsObject();
    if (!object_)
      marks_.fatal("JIT annotation is not a JSON object: " + text);
  }

  void read() {
    if (!object_)
      return;
    const std::optional<int64_t> position = object_->getInteger("arg");
    if (!position)
      return marks_.fatal("JIT annotation without an integer 'arg'");
    if (*position < 1 || *position > static_cast<int64_t>(marks_.function().arg_size()))
      return marks_.fatal("JIT annotation of argument " + llvm::Twine(*position) +
                          " is out of range: the function has " +
                          llvm::Twine(marks_.function().arg_size()));
    argument_ = marks_.function().getArg(static_cast<unsigned>(*position - 1));
    const std::optional<int64_t> type = object_->getInteger("type");
    if (!type && object_->get("type"))
      return marks_.fatal("JIT annotation with a 'type' that is not an integer");
    if (!type && argument_->getType()->isPointerTy())
      return marks_.fatal("JIT annotation of a pointer needs a 'type'");
    const int64_t wanted = type.value_or(constantTypeOf(argument_->getType()));
    if (wanted == MNEME_CONSTANT_ARRAY || wanted == MNEME_CONSTANT_STATIC_ARRAY)
      readArray(static_cast<int32_t>(wanted));
    else if (wanted == MNEME_CONSTANT_OBJECT)
      readObject();
    else if (isScalar(wanted) || wanted == MNEME_CONSTANT_VECTOR)
      marks_.add(valueMark(*argument_, static_cast<int32_t>(wanted)));
    else
      marks_.fatal("JIT annotation with unknown 'type' " + llvm::Twine(wanted));
  }

private:
  void readArray(int32_t type) {
    const llvm::json::Object* info = object_->getObject("arrinfo");
    if (!info)
      return marks_.fatal("JIT annotation of an array needs 'arrinfo'");
    const int64_t element = info->getInteger("elt-type").value_or(MNEME_CONSTANT_NONE);
    const std::optional<int64_t> count = info->getInteger("num-elts");
    const std::optional<int64_t> position = info->getInteger("num-elts-pos");
    if (!isScalar(element))
      return marks_.fatal("JIT annotation of an array with unknown 'elt-type' " +
                          llvm::Twine(element));
    if (count.has_value() == position.has_value())
      return marks_.fatal(
          "JIT annotation of an array needs exactly one of 'num-elts' and 'num-elts-pos'");
    mneme_jit_mark mark = valueMark(*argument_, type);
    mark.elementType = static_cast<int32_t>(element);
    mark.sizeBytes = sizeOf(element);
    mark.flags = argument_->getType()->isPointerTy() && !argument_->hasPointeeInMemoryValueAttr()
                     ? 0
                     : MNEME_JIT_MARK_BY_VALUE;
    if (count && *count <= 0)
      return marks_.fatal("Invalid number of elements in array: " + llvm::Twine(*count));
    if (count)
      mark.count = static_cast<uint64_t>(*count);
    else if (!setCount(mark, *position))
      return;
    marks_.add(mark);
  }

  bool setCount(mneme_jit_mark& mark, int64_t position) {
    const llvm::Function& function = marks_.function();
    if (position < 0 || position >= static_cast<int64_t>(function.arg_size()) ||
        !function.getArg(static_cast<unsigned>(position))->getType()->isIntegerTy()) {
      marks_.fatal("JIT annotation with 'num-elts-pos' " + llvm::Twine(position) +
                   ", which is not an integer argument");
      return false;
    }
    countBy(mark, *function.getArg(static_cast<unsigned>(position)));
    return true;
  }

  void readObject() {
    const llvm::json::Object* info = object_->getObject("objinfo");
    if (!info)
      return marks_.fatal("JIT annotation of an object needs 'objinfo'");
    for (const auto& entry : *info)
      if (entry.first != "size" && entry.first != "pass-by-value")
        return marks_.fatal("JIT annotation with unknown key in 'objinfo': " + entry.first.str());
    const std::optional<int64_t> size = info->getInteger("size");
    const std::optional<bool> isByValue = info->getBoolean("pass-by-value");
    if (!size || *size <= 0 || !isByValue)
      return marks_.fatal("JIT annotation of an object needs 'size' and 'pass-by-value'");
    marks_.addObject(*argument_, static_cast<uint64_t>(*size),
                     *isByValue || !argument_->getType()->isPointerTy());
  }

  MarkList& marks_;
  llvm::json::Value value_ = nullptr;
  const llvm::json::Object* object_ = nullptr;
  llvm::Argument* argument_ = nullptr;
};

llvm::StringRef stringOf(const llvm::Value* value) {
  const auto* variable =
      llvm::dyn_cast_or_null<llvm::GlobalVariable>(value ? value->stripPointerCasts() : nullptr);
  if (!variable || !variable->hasInitializer())
    return "";
  const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(variable->getInitializer());
  return data && data->isCString() ? data->getAsCString() : llvm::StringRef();
}

void readPosition(const llvm::ConstantInt& position, MarkList& marks) {
  llvm::Function& function = marks.function();
  const int64_t number = position.getSExtValue();
  if (number < 1 || number > static_cast<int64_t>(function.arg_size()))
    return marks.fatal("JIT annotation of argument " + llvm::Twine(number) +
                       " is out of range: the function has " + llvm::Twine(function.arg_size()));
  const llvm::Argument& argument = *function.getArg(static_cast<unsigned>(number - 1));
  const int32_t type = constantTypeOf(argument.getType());
  // Where a large result goes is a pointer as any other, and the first argument.
  const bool isObject = argument.hasPointeeInMemoryValueAttr() && !argument.hasStructRetAttr();
  if (!isScalar(type) || isObject)
    return marks.fatal("Expected scalar type for attribute annotation, found " +
                       textOf(argument.getType()));
  marks.addScalar(argument);
}

} // namespace

bool eraseAnnotations(llvm::Module& module) {
  llvm::GlobalVariable* all = module.getNamedGlobal("llvm.global.annotations");
  const auto* rows = all && all->hasInitializer()
                         ? llvm::dyn_cast<llvm::ConstantArray>(all->getInitializer())
                         : nullptr;
  if (!rows)
    return false;
  llvm::SmallVector<llvm::Constant*> others;
  for (const llvm::Use& row : rows->operands()) {
    const auto* fields = llvm::dyn_cast<llvm::ConstantStruct>(row.get());
    if (!fields || fields->getNumOperands() < 5 || stringOf(fields->getOperand(1)) != "jit")
      others.push_back(llvm::cast<llvm::Constant>(row.get()));
  }
  if (others.size() == rows->getNumOperands())
    return false;
  if (!others.empty()) {
    auto* type = llvm::ArrayType::get(others.front()->getType(), others.size());
    auto* left = new llvm::GlobalVariable(
        module, type, all->isConstant(), all->getLinkage(), llvm::ConstantArray::get(type, others),
        "", all, llvm::GlobalValue::NotThreadLocal, all->getAddressSpace());
    left->copyAttributesFrom(all);
    left->takeName(all);
  }
  all->eraseFromParent();
  return true;
}

std::vector<Annotation> readAnnotations(llvm::Module& module) {
  std::vector<Annotation> found;
  const llvm::GlobalVariable* all = module.getNamedGlobal("llvm.global.annotations");
  const auto* rows = all && all->hasInitializer()
                         ? llvm::dyn_cast<llvm::ConstantArray>(all->getInitializer())
                         : nullptr;
  if (!rows)
    return found;
  for (const llvm::Use& row : rows->operands()) {
    const auto* fields = llvm::dyn_cast<llvm::ConstantStruct>(row.get());
    if (!fields || fields->getNumOperands() < 5 || stringOf(fields->getOperand(1)) != "jit")
      continue;
    auto* function = llvm::dyn_cast<llvm::Function>(fields->getOperand(0)->stripPointerCasts());
    const auto* variable =
        llvm::dyn_cast<llvm::GlobalVariable>(fields->getOperand(4)->stripPointerCasts());
    const auto* line = llvm::dyn_cast<llvm::ConstantInt>(fields->getOperand(3));
    if (function && !function->isDeclaration())
      found.push_back(
          {function, variable && variable->hasInitializer() ? variable->getInitializer() : nullptr,
           stringOf(fields->getOperand(2)), line ? line->getZExtValue() : 0});
  }
  return found;
}

void readArguments(const llvm::Constant& arguments, MarkList& marks) {
  // Not its operands: a struct of nothing but zeros has none.
  const auto* fields = llvm::cast<llvm::StructType>(arguments.getType());
  for (unsigned index = 0; index < fields->getNumElements(); ++index)
    if (const llvm::Constant* field = arguments.getAggregateElement(index);
        const auto* position = llvm::dyn_cast<llvm::ConstantInt>(field))
      readPosition(*position, marks);
    else
      JsonMark(stringOf(field), marks).read();
}

} // namespace mneme::passes
