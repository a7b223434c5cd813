// Room passes: collects the marks of one function.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "runtime/core/abi/jit_mark.h"

namespace mneme::passes {

/// The marked arguments of one function. A function without marked arguments is also compiled at
/// run time, specialised for the dimensions of a launch.
using Marks = llvm::SmallVector<mneme_jit_mark, 4>;

/// Reports `reason` as a compilation error, in the format of the reference tool. `place` is
/// "<file>:<line>".
void reportFatal(llvm::Module& module, const llvm::Twine& place, const llvm::Twine& reason);

/// Returns the type as LLVM prints it.
std::string textOf(llvm::Type* type);

/// Returns the enum mneme_constant_type of a type; MNEME_CONSTANT_NONE if it has none.
int32_t constantTypeOf(llvm::Type* type);

/// Returns whether a value of that type is a single number or pointer.
bool isScalar(int64_t constantType);

/// Returns a mark for the argument's own value.
mneme_jit_mark valueMark(const llvm::Argument& argument, int32_t type);

/// Makes `argument` the number of the array's elements.
void countBy(mneme_jit_mark& mark, const llvm::Argument& argument);

/// Collects the marks of one function from all sources.
class MarkList {
public:
  explicit MarkList(llvm::Function& function)
      : function_(function), place_(function.getParent()->getSourceFileName() + ":0") {
    if (const llvm::DISubprogram* source = function.getSubprogram())
      standAt(source->getFilename(), source->getLine());
  }

  /// Sets the place in the source of the marks that follow.
  void standAt(llvm::StringRef file, uint64_t line) {
    place_ = (file + ":" + llvm::Twine(line)).str();
  }

  void add(const mneme_jit_mark& mark) {
    if (llvm::any_of(marks_,
                     [&](const mneme_jit_mark& known) { return known.argument == mark.argument; }))
      fatal("Duplicate JIT annotation for argument (0-index): " + llvm::Twine(mark.argument));
    else
      marks_.push_back(mark);
  }

  /// Adds a scalar. As in the reference tool, short integers and halves are not scalars.
  void addScalar(const llvm::Argument& argument) {
    const int32_t type = constantTypeOf(argument.getType());
    if (type == MNEME_CONSTANT_NONE || type == MNEME_CONSTANT_INT16 || type == MNEME_CONSTANT_HALF)
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

  void fatal(const llvm::Twine& reason) { reportFatal(*function_.getParent(), place_, reason); }

  llvm::Function& function() { return function_; }
  Marks sorted() && {
    llvm::sort(marks_, [](const mneme_jit_mark& left, const mneme_jit_mark& right) {
      return left.argument < right.argument;
    });
    return std::move(marks_);
  }

private:
  llvm::Function& function_;
  std::string place_;
  Marks marks_;
};

/// One row of llvm.global.annotations: {function, "jit", file, line, arguments}.
struct Annotation {
  llvm::Function* function = nullptr;
  const llvm::Constant* arguments = nullptr; ///< null: none
  llvm::StringRef file;
  uint64_t line = 0;
};

/// Returns the rows of defined functions.
std::vector<Annotation> readAnnotations(llvm::Module& module);
/// Adds the marks that the arguments of an annotation describe.
void readArguments(const llvm::Constant& arguments, MarkList& marks);

/// Returns whether calls of the function are marks: proteus::jit_arg, jit_array, jit_object.
bool isMarkFunction(const llvm::Function& function);
/// Adds the marks made by calls in the function. Returns whether there are any.
bool readMarkCalls(MarkList& marks);

} // namespace mneme::passes
