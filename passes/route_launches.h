// Room passes: host side. Routes every launch through libmneme_rt.
#pragma once

#include <llvm/IR/PassManager.h>

#include <optional>

namespace mneme::passes {

/// Replaces every use (call or address) of a vendor launch function that the module declares with a
/// thunk inside the module that fills an `mneme_launch` (runtime/core/abi/mneme_rt.h) and calls
/// mneme_launch_kernel(). Also routes functions that create executable graphs (route_graphs.h).
/// Leaves device modules, and modules that define such a function themselves, unchanged. Returns
/// whether the module changed.
bool routeLaunches(llvm::Module& module);

/// Returns the index of the argument of `vendor` that holds the addresses of the kernel's
/// arguments; none if `vendor` does not launch kernels.
std::optional<unsigned> launchArgumentList(const llvm::Function& vendor);

class RouteLaunchesPass : public llvm::PassInfoMixin<RouteLaunchesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

} // namespace mneme::passes
