// Room passes: extracts one kernel, or a unit's linkable device code, from a device module.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <optional>
#include <string>

#include "passes/jit_marks.h"
#include "passes/source_places.h"

namespace mneme::passes {

/// A separate module that holds a kernel and everything it uses.
///
/// Functions, aliases, shared memory and constant tables are copied. Device globals
/// (isDeviceGlobal) have linkage `available_externally` and `externally_initialized`: their storage
/// belongs to the program, and the initializer only describes a freshly loaded module. Functions
/// that other units could define too are `linkonce_odr`, so that closures link with the unit's
/// shared code. The `optnone` and `noinline` that -O0 adds are removed; attributes that the source
/// gives to single functions are kept. Only the line tables of the debug information are kept.
struct Closure {
  std::unique_ptr<llvm::Module> module;
  std::string kernel; ///< name in `module`; empty for a unit's shared code
  /// What becomes constant at run time; none: the kernel is not compiled at run time.
  std::optional<Marks> marks = std::nullopt;
  /// The types of its arguments in the source (member_names.h).
  llvm::SmallVector<const llvm::DIType*> argTypes = {};
  std::optional<SourcePlace> place = std::nullopt; ///< where its body is in the source
};

/// Extracts `kernel`; its module is left unchanged.
Closure extractKernel(llvm::Function& kernel);

/// Extracts the functions and variables that other units may refer to, with everything they use.
/// They keep their linkage. The module is null if there are none.
Closure extractSharedCode(llvm::Module& module);

} // namespace mneme::passes
