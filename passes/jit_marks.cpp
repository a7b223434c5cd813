#include "passes/jit_marks.h"

#include <llvm/IR/Instructions.h>

#include "passes/device_module.h"
#include "passes/lambdas.h"
#include "passes/mark_list.h"

namespace mneme::passes {

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
