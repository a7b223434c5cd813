// Room record: what happens when a program loads device code itself and launches kernels of it, for
// every vendor alike. The vendor's own function is given as `next`, as in served_memory.h.
#pragma once

#include <cstddef>

#include "runtime/abi/mneme_rt.h"
#include "runtime/record/served_memory.h"

namespace mneme::record {

/// A module is loaded from memory; `module` receives its handle.
int watchModule(void** module, const void* image, const Next& next);
/// The same from a file.
int watchModuleFile(void** module, const char* path, const Next& next);
int watchModuleUnload(void* module, const Next& next);
/// A kernel of it is asked for; `function` receives its handle.
int watchModuleKernel(const void** function, void* module, const char* name, const Next& next);

/// The handle of a kernel of the program's own is asked for.
int watchAlias(const void** function, const void* kernel, const Next& next);

/// A launch of such a kernel, in whatever form the vendor's function takes it.
struct LoadedLaunch {
  const void* function = nullptr;
  mneme_dim3 grid{};
  mneme_dim3 block{};
  size_t sharedBytes = 0;
  void* stream = nullptr;
  void** args = nullptr;
  void** extra = nullptr; ///< the arguments in one buffer, where `args` is null
  bool isCooperative = false;
  const void* config = nullptr; ///< as mneme_launch::config, where there is one
};

/// Records the launch if it is time to. `next` makes it as the program wrote it.
int launchLoaded(const LoadedLaunch& launch, const Next& next);

} // namespace mneme::record
