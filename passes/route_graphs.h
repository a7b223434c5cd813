// Room passes: host side. Reports executable graphs to libmneme_rt.
#pragma once

namespace llvm {
class Function;
class Module;
class Twine;
} // namespace llvm

namespace mneme::passes {

/// Replaces every use (call or address) of a vendor function with an internal function of the same
/// type, which is returned and has no body yet.
llvm::Function& replaceByThunk(llvm::Function& vendor, const llvm::Twine& name);

/// Replaces every use of a vendor function that creates an executable graph, or
/// updates a whole one, with a thunk inside the module that calls it and then mneme_graph_changed()
/// (runtime/core/abi/mneme_rt.h). Leaves device modules, and modules that define such a function
/// themselves, unchanged. Returns whether the module changed.
bool routeGraphs(llvm::Module& module);

} // namespace mneme::passes
