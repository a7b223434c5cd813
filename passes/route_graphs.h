// Room passes: host side. libmneme_rt hears of executable graphs.
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace mneme::passes {

/// Replaces every use (call or address) of a vendor function that makes an executable graph, or
/// updates all of one, by a thunk inside the module that calls it and then mneme_graph_changed()
/// (runtime/abi/mneme_rt.h). A module that defines such a function itself, and a device module,
/// stay as they are. Returns whether the module changed.
bool routeGraphs(llvm::Module& module);

} // namespace mneme::passes
