// Room passes: host side. Notifies libmneme_rt when the program writes a constant.
#pragma once

#include <llvm/IR/GlobalVariable.h>

namespace mneme::passes {

/// Adds a call of mneme_variable_written() after every call that writes the device variable of this
/// host shadow. Does so only if the unit merely registers the shadow, reads from it and copies to
/// it from the host with cudaMemcpyToSymbol(), and other units cannot name it. Otherwise changes
/// nothing and returns false.
bool tellWrites(llvm::GlobalVariable& shadow);

} // namespace mneme::passes
