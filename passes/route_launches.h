// Room passes: host side. Every launch goes through libmneme_rt.
#pragma once

#include <llvm/IR/PassManager.h>

#include <optional>

namespace mneme::passes {

/// Replaces every use (call or address) of a vendor launch function the module declares by a thunk
/// inside the module that fills an `mneme_launch` (runtime/abi/mneme_rt.h) and calls
/// mneme_launch_kernel; so it is with functions that make executable graphs (route_graphs.h). A
/// module that defines such a function itself, and a device module, stay as they are. Returns
/// whether the module changed.
bool routeLaunches(llvm::Module& module);

/// Which argument of a call of `vendor` has the addresses of the kernel's arguments, if that is a
/// function that launches kernels.
std::optional<unsigned> launchArgumentList(const llvm::Function& vendor);

class RouteLaunchesPass : public llvm::PassInfoMixin<RouteLaunchesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

} // namespace mneme::passes
