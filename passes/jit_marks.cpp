#include "passes/jit_marks.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include "passes/warning.h"

namespace mneme::passes {
namespace {

constexpr llvm::StringLiteral kArgCall = "_ZN7proteus7jit_arg";
constexpr llvm::StringLiteral kArrayCall = "_ZN7proteus9jit_array";
constexpr llvm::StringLiteral kObjectCall = "_ZN7proteus10jit_object";

bool isMarkFunction(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  return name.starts_with(kArgCall) || name.starts_with(kArrayCall) ||
         name.starts_with(kObjectCall);
}

std::string textOf(llvm::Type* type) {
  std::string text;
  llvm::raw_string_ostream(text) << *type;
  return text;
}

int32_t typeOf(llvm::Type* type) {
  if (type->isIntegerTy())
    switch (type->getIntegerBitWidth()) {
    case 1:
      return MNEME_CONSTANT_BOOL;
    case 8:
      return MNEME_CONSTANT_INT8;
    case 16:
      return MNEME_CONSTANT_INT16;
    case 32:
      return MNEME_CONSTANT_INT32;
    case 64:
      return MNEME_CONSTANT_INT64;
    default:
      return MNEME_CONSTANT_NONE;
    }
  if (type->isHalfTy() || type->isBFloatTy())
    return MNEME_CONSTANT_HALF;
  if (type->isFloatTy())
    return MNEME_CONSTANT_FLOAT;
  if (type->isDoubleTy())
    return MNEME_CONSTANT_DOUBLE;
  if (type->isX86_FP80Ty() || type->isFP128Ty() || type->isPPC_FP128Ty())
    return MNEME_CONSTANT_LONG_DOUBLE;
  if (type->isPointerTy())
    return MNEME_CONSTANT_POINTER;
  if (type->isVectorTy())
    return MNEME_CONSTANT_VECTOR;
  return MNEME_CONSTANT_NONE;
}

bool isScalar(int64_t type) {
  return (type >= MNEME_CONSTANT_BOOL && type <= MNEME_CONSTANT_POINTER) ||
         type == MNEME_CONSTANT_INT16 || type == MNEME_CONSTANT_HALF;
}

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

mneme_jit_mark valueMark(const llvm::Argument& argument, int32_t type) {
  const llvm::DataLayout& layout = argument.getParent()->getParent()->getDataLayout();
  return {.argument = argument.getArgNo(),
          .type = type,
          .elementType = MNEME_CONSTANT_NONE,
          .countArgument = -1,
          .sizeBytes = layout.getTypeStoreSize(argument.getType()).getFixedValue(),
          .count = 1,
          .countBytes = 0,
          .flags = MNEME_JIT_MARK_BY_VALUE};
}

/// Collects the marks of one function, from wherever they come.
class MarkList {
public:
  explicit MarkList(llvm::Function& function) : function_(function) {}

  void add(const mneme_jit_mark& mark) {
    if (llvm::any_of(marks_, [&](const mneme_jit_mark& known) {
          return known.argument == mark.argument;
        }))
      fatal("Duplicate JIT annotation for argument (0-index): " + llvm::Twine(mark.argument));
    else
      marks_.push_back(mark);
  }

  /// A scalar, or a struct that the ABI passes in a register.
  void addScalar(const llvm::Argument& argument) {
    const int32_t type = typeOf(argument.getType());
    if (type == MNEME_CONSTANT_NONE)
      fatal("Unknown Type " + textOf(argument.getType()));
    else
      add(valueMark(argument, type));
  }

  void addObject(const llvm::Argument& argument, uint64_t sizeBytes, bool isByValue) {
    mneme_jit_mark mark = valueMark(argument, MNEME_CONSTANT_OBJECT);
    mark.sizeBytes = sizeBytes;
    mark.flags = isByValue ? MNEME_JIT_MARK_BY_VALUE : 0;
    add(mark);
  }

  void fatal(const llvm::Twine& reason) { reportFatal(*function_.getParent(), reason); }

  llvm::Function& function() { return function_; }
  Marks sorted() && {
    llvm::sort(marks_, [](const mneme_jit_mark& left, const mneme_jit_mark& right) {
      return left.argument < right.argument;
    });
    return std::move(marks_);
  }

private:
  llvm::Function& function_;
  Marks marks_;
};

// --- annotate("jit", ...) -----------------------------------------------------------------------

/// The description of one argument as JSON text.
class JsonMark {
public:
  JsonMark(llvm::StringRef text, MarkList& marks) : marks_(marks) {
    if (llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text)) {
      value_ = std::move(*parsed);
    } else {
      llvm::consumeError(parsed.takeError());
      marks_.fatal("JIT annotation is no JSON: " + text);
      return;
    }
    object_ = value_.getAsObject();
    if (!object_)
      marks_.fatal("JIT annotation is no JSON object: " + text);
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
    if (!type && argument_->getType()->isPointerTy())
      return marks_.fatal("JIT annotation of a pointer needs a 'type'");
    const int64_t wanted = type.value_or(typeOf(argument_->getType()));
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
                   ", which is no integer argument");
      return false;
    }
    mark.countArgument = static_cast<int32_t>(position);
    mark.countBytes =
        function.getArg(static_cast<unsigned>(position))->getType()->getIntegerBitWidth() / 8;
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
  const int32_t type = typeOf(argument.getType());
  if (!isScalar(type) || argument.hasPointeeInMemoryValueAttr())
    return marks.fatal("Expected scalar type for attribute annotation, found " +
                       textOf(argument.getType()));
  marks.add(valueMark(argument, type));
}

/// One row of llvm.global.annotations: {function, "jit", file, line, arguments}.
struct Annotation {
  llvm::Function* function = nullptr;
  const llvm::Constant* arguments = nullptr; ///< null: none
};

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
    if (function && !function->isDeclaration())
      found.push_back(
          {function, variable && variable->hasInitializer() ? variable->getInitializer() : nullptr});
  }
  return found;
}

void readArguments(const llvm::Constant& arguments, MarkList& marks) {
  for (const llvm::Use& operand : arguments.operands())
    if (const auto* position = llvm::dyn_cast<llvm::ConstantInt>(operand.get()))
      readPosition(*position, marks);
    else
      JsonMark(stringOf(operand.get()), marks).read();
}

// --- proteus::jit_arg and its like --------------------------------------------------------------

const llvm::Value* withoutCasts(const llvm::Value* value) {
  while (true) {
    if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(value))
      value = cast->getOperand(0);
    else if (const auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(value))
      value = freeze->getOperand(0);
    else
      return value->stripPointerCasts();
  }
}

/// The stack slot that `pointer` is at the beginning of.
const llvm::AllocaInst* slotOf(const llvm::Value* pointer) {
  return llvm::dyn_cast<llvm::AllocaInst>(withoutCasts(pointer)->stripInBoundsConstantOffsets());
}

/// Arguments that are stored somewhere in a slot, or in one that is copied to it.
void addStored(const llvm::Value& slot, llvm::SmallVectorImpl<llvm::Argument*>& arguments,
               unsigned depth = 0) {
  for (const llvm::User* user : slot.users()) {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      if (auto* argument = llvm::dyn_cast<llvm::Argument>(
              const_cast<llvm::Value*>(withoutCasts(store->getValueOperand())));
          argument && store->getPointerOperand() == &slot)
        arguments.push_back(argument);
    } else if (const auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(user)) {
      if (const llvm::AllocaInst* source = slotOf(copy->getSource());
          source && source != slotOf(&slot) && depth < 2)
        addStored(*source, arguments, depth + 1);
      else if (auto* argument = llvm::dyn_cast<llvm::Argument>(
                   const_cast<llvm::Value*>(withoutCasts(copy->getSource()))))
        arguments.push_back(argument);
    } else if (llvm::isa<llvm::GEPOperator>(user) || llvm::isa<llvm::CastInst>(user)) {
      addStored(*user, arguments, depth);
    }
  }
}

/// The parameter whose value `value` is, as clang writes it before any optimisation: loaded from
/// the slot the parameter is stored in.
llvm::Argument* parameterOf(const llvm::Value* value) {
  value = withoutCasts(value);
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value))
    if (const llvm::AllocaInst* slot = slotOf(load->getPointerOperand())) {
      llvm::SmallVector<llvm::Argument*, 2> arguments;
      addStored(*slot, arguments);
      return arguments.size() == 1 ? arguments.front() : nullptr;
    }
  return llvm::dyn_cast<llvm::Argument>(const_cast<llvm::Value*>(value));
}

/// Reads one call of a mark function.
class CallMark {
public:
  CallMark(const llvm::CallBase& call, MarkList& marks) : call_(call), marks_(marks) {}

  void read() {
    if (call_.getParent() != &marks_.function().getEntryBlock())
      return marks_.fatal("Expected instrumentation annotation to be in the entry basic block");
    llvm::StringRef name = call_.getCalledFunction()->getName();
    if (name.starts_with(kObjectCall))
      return readObject();
    llvm::Argument* argument = parameterOf(call_.getArgOperand(0));
    if (!argument)
      return refuse();
    if (name.starts_with(kArrayCall))
      readArray(*argument);
    else
      marks_.addScalar(*argument);
  }

private:
  /// How the ABI passes an element says what it is, unless it is a struct.
  int32_t elementTypeOf(llvm::Type* passed, uint64_t sizeBytes) const {
    const llvm::DataLayout& layout = marks_.function().getParent()->getDataLayout();
    const int32_t type = typeOf(passed);
    return isScalar(type) && call_.arg_size() == 4 &&
                   layout.getTypeAllocSize(passed).getFixedValue() == sizeBytes
               ? type
               : MNEME_CONSTANT_OBJECT;
  }

  void refuse() {
    marks_.fatal("Expected non-null argument. The operand of " +
                 call_.getCalledFunction()->getName() + " is no parameter of " +
                 marks_.function().getName());
  }

  /// jit_array(pointer, count, element, size of an element)
  void readArray(const llvm::Argument& argument) {
    const auto* elementBytes =
        llvm::dyn_cast<llvm::ConstantInt>(call_.getArgOperand(call_.arg_size() - 1));
    if (call_.arg_size() < 3 || !elementBytes)
      return refuse();
    mneme_jit_mark mark = valueMark(argument, MNEME_CONSTANT_ARRAY);
    mark.flags = 0;
    mark.sizeBytes = elementBytes->getZExtValue();
    mark.elementType = elementTypeOf(call_.getArgOperand(2)->getType(), mark.sizeBytes);
    const llvm::Value* count = call_.getArgOperand(1);
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(count)) {
      if (constant->getSExtValue() <= 0)
        return marks_.fatal("Invalid number of elements in array: " +
                            llvm::Twine(constant->getSExtValue()));
      mark.count = constant->getZExtValue();
    } else if (const llvm::Argument* parameter = parameterOf(count);
               parameter && parameter->getType()->isIntegerTy()) {
      mark.countArgument = static_cast<int32_t>(parameter->getArgNo());
      mark.countBytes = parameter->getType()->getIntegerBitWidth() / 8;
    } else {
      return refuse();
    }
    marks_.add(mark);
  }

  /// jit_object(pointer or reference, size)
  void readObject() {
    const auto* size = llvm::dyn_cast<llvm::ConstantInt>(call_.getArgOperand(1));
    if (!size)
      return marks_.fatal("Expected a constant size of the object");
    const llvm::Value* pointer = withoutCasts(call_.getArgOperand(0));
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(pointer))
      return marks_.addObject(*argument, size->getZExtValue(),
                              argument->hasPointeeInMemoryValueAttr());
    if (llvm::isa<llvm::LoadInst>(pointer)) {
      const llvm::Argument* argument = parameterOf(pointer);
      if (!argument)
        return refuse();
      return marks_.addObject(*argument, size->getZExtValue(),
                              argument->hasPointeeInMemoryValueAttr());
    }
    if (const llvm::AllocaInst* slot = slotOf(pointer))
      return readPassedInRegisters(*slot, size->getZExtValue());
    refuse();
  }

  /// A struct by value that the ABI takes apart: each piece is a value.
  void readPassedInRegisters(const llvm::AllocaInst& slot, uint64_t sizeBytes) {
    llvm::SmallVector<llvm::Argument*, 2> pieces;
    addStored(slot, pieces);
    if (pieces.empty())
      return refuse();
    for (const llvm::Argument* piece : pieces)
      if (piece->hasPointeeInMemoryValueAttr() || piece->getType()->isAggregateType())
        marks_.addObject(*piece, sizeBytes, true);
      else
        marks_.addScalar(*piece);
  }

  const llvm::CallBase& call_;
  MarkList& marks_;
};

void readCalls(llvm::Function& function, MarkList& marks, bool& isMarked) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || !isMarkFunction(*callee))
      continue;
    isMarked = true;
    CallMark(*call, marks).read();
  }
}

} // namespace

void reportFatal(llvm::Module& module, const llvm::Twine& reason) {
  fail(module, "[proteus][FATAL ERROR] " + llvm::StringRef(module.getSourceFileName()) + ":0 => " +
                   reason);
}

llvm::MapVector<llvm::Function*, Marks> readMarks(llvm::Module& module) {
  // An annotation without arguments takes the place of the function's calls, as in the reference
  // tool.
  llvm::MapVector<llvm::Function*, llvm::SmallVector<Annotation, 1>> annotations;
  for (const Annotation& annotation : readAnnotations(module))
    annotations[annotation.function].push_back(annotation);

  llvm::MapVector<llvm::Function*, Marks> all;
  for (llvm::Function& function : module) {
    const auto known = annotations.find(&function);
    MarkList marks(function);
    bool isMarked = known != annotations.end();
    bool isBare = false;
    if (isMarked)
      for (const Annotation& annotation : known->second) {
        isBare |= !annotation.arguments;
        if (annotation.arguments)
          readArguments(*annotation.arguments, marks);
      }
    if (!isBare && !function.isDeclaration())
      readCalls(function, marks, isMarked);
    if (isMarked)
      all[&function] = std::move(marks).sorted();
  }
  return all;
}

bool eraseMarkCalls(llvm::Module& module) {
  bool changed = false;
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!isMarkFunction(function))
      continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users()))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user);
          call && call->getCalledOperand() == &function) {
        call->eraseFromParent();
        changed = true;
      }
    if (function.use_empty()) {
      function.eraseFromParent();
      changed = true;
    }
  }
  return changed;
}

} // namespace mneme::passes
