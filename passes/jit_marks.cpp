#include "passes/jit_marks.h"

#include <llvm/IR/Instructions.h>
#include <llvm/Support/raw_ostream.h>

#include "passes/device_module.h"
#include "passes/lambdas.h"
#include "passes/mark_list.h"
#include "passes/warning.h"

namespace mneme::passes {

std::string textOf(llvm::Type* type) {
  std::string text;
  llvm::raw_string_ostream(text) << *type;
  return text;
}

int32_t constantTypeOf(llvm::Type* type) {
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

void countBy(mneme_jit_mark& mark, const llvm::Argument& argument) {
  mark.countArgument = static_cast<int32_t>(argument.getArgNo());
  mark.countBytes = argument.getType()->getIntegerBitWidth() / 8;
  if (argument.hasZExtAttr())
    mark.flags |= MNEME_JIT_MARK_UNSIGNED_COUNT;
}

void reportFatal(llvm::Module& module, const llvm::Twine& place, const llvm::Twine& reason) {
  fail(module, "[proteus][FATAL ERROR] " + place + " => " + reason);
}

llvm::MapVector<llvm::Function*, Marks> readMarks(llvm::Module& module,
                                                  bool (*canHave)(const llvm::Function&)) {
  // An annotation without arguments takes the place of the function's calls, as in the reference
  // tool.
  llvm::MapVector<llvm::Function*, llvm::SmallVector<Annotation, 1>> annotations;
  for (const Annotation& annotation : readAnnotations(module))
    if (canHave(*annotation.function))
      annotations[annotation.function].push_back(annotation);
    else if (isDeviceModule(module) && !isCallOperator(*annotation.function))
      reportFatal(module, annotation.file + ":" + llvm::Twine(annotation.line),
                  "JIT annotation of '" + annotation.function->getName() +
                      "', which is not a kernel: device functions are compiled with the "
                      "kernels that call them");

  llvm::MapVector<llvm::Function*, Marks> all;
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || !canHave(function))
      continue;
    const auto known = annotations.find(&function);
    MarkList marks(function);
    bool isMarked = known != annotations.end();
    bool isBare = false;
    if (isMarked)
      for (const Annotation& annotation : known->second) {
        isBare |= !annotation.arguments;
        marks.standAt(annotation.file, annotation.line);
        if (annotation.arguments)
          readArguments(*annotation.arguments, marks);
      }
    if (!isBare)
      isMarked |= readMarkCalls(marks);
    if (isMarked)
      all[&function] = std::move(marks).sorted();
  }
  return all;
}

llvm::SmallVector<llvm::Function*> annotatedFunctions(llvm::Module& module) {
  llvm::SmallVector<llvm::Function*> functions;
  for (const Annotation& annotation : readAnnotations(module))
    functions.push_back(annotation.function);
  return functions;
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
