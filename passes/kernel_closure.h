// Room passes: cuts one kernel, or the linkable device code of a unit, out of a device module.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <optional>
#include <string>

#include "passes/jit_marks.h"

namespace mneme::passes {

/// A module of its own that holds a kernel and everything it reaches.
///
/// Functions, aliases, shared memory and constant tables are copied. Device globals
/// (isDeviceGlobal) have linkage `available_externally` and `externally_initialized`: their storage
/// belongs to the program, the initializer only says what a freshly loaded module holds. Functions
/// other units could define too are `linkonce_odr`, so that closures link with the unit's shared
/// code. The `optnone` of -O0, and the `noinline` that comes with it, are gone; what the source
/// says of single functions stays. Of debug information the line tables remain.
struct Closure {
  std::unique_ptr<llvm::Module> module;
  std::string kernel; ///< name in `module`; empty for a unit's shared code
  /// What of a kernel becomes constant at run time; nothing: it is not compiled then.
  std::optional<Marks> marks = std::nullopt;
};

/// Leaves the module of `kernel` as it is.
Closure extractKernel(llvm::Function& kernel);

/// The functions and variables other units may refer to, with what they reach; they keep their
/// linkage. Null module if there are none.
Closure extractSharedCode(llvm::Module& module);

} // namespace mneme::passes
