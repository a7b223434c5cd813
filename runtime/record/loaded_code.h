// Room record: what happens when a program loads device code itself and launches kernels of it, for
// every vendor alike. The vendor's own function is given as `next`, as in served_memory.h.
#pragma once

#include <cstddef>

#include "runtime/abi/mneme_rt.h"
#include "runtime/record/served_memory.h"

namespace mneme::record {

// Notes about kernels whose code is not known.
inline constexpr const char* kUnknown =
    "a kernel was launched by a handle that the recorder has not seen made; it is not recorded";
inline constexpr const char* kNotBuilt =
    "a kernel of code that was not built with mneme was launched; it is not recorded";
inline constexpr const char* kWithoutIr =
    "a kernel of code that the program loaded itself, which carries no mneme IR, was launched; it "
    "is not recorded (compile the code with mneme-cxx)";

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

/// While it lives, the vendor's call of this thread's launches that asRecorded() describes is
/// `next`, which must outlive it.
class AsWritten {
public:
  explicit AsWritten(const Next& next) noexcept;
  ~AsWritten();
  AsWritten(const AsWritten&) = delete;
  AsWritten& operator=(const AsWritten&) = delete;

private:
  const Next* outer_;
};

/// The launch as libmneme_rt takes it. `kernel` is its function's first handle (findKernel()).
mneme_launch asRecorded(const LoadedLaunch& launch, const void* kernel, void** args) noexcept;

/// Records the launch if it is time to. `next` makes it as the program wrote it.
int launchLoaded(const LoadedLaunch& launch, const Next& next);

} // namespace mneme::record
