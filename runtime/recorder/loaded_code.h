// Room recorder: handles device code that a program loads itself, and launches of its kernels, for
// all vendors. The vendor's own function is given as `next`, as in served_memory.h.
#pragma once

#include <cstddef>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/embed/jit_options.h"
#include "runtime/recorder/served_memory.h"

namespace mneme::record {

struct KernelInfo;

// Notes about kernels whose code is not known (Session::noteKernelOnce()).
inline constexpr const char* kUnknown =
    "it was launched by a handle that the recorder has not seen made, and is not recorded";
inline constexpr const char* kNotBuilt = "it was not built with mneme, and is not recorded";
inline constexpr const char* kOfVendor =
    "it belongs to one of the vendor's libraries of kernels, and is not recorded";
inline constexpr const char* kWithoutIr =
    "its code, which the program loaded itself, carries no mneme IR, and it is not recorded "
    "(compile the code with mneme-cxx)";

/// Returns which of these holds for a kernel of loaded code whose arguments are not known.
const char* whyUnreadable(const KernelInfo& info) noexcept;

/// A library is loaded for all contexts, and has a module in each. Both have kernels.
enum class CodeKind { Module, Library };
/// Passes on the loading of a module from memory; `module` receives its handle.
int watchModule(void** module, const void* image, const Next& next,
                CodeKind kind = CodeKind::Module, const embed::GivenOptions& given = {});
/// The same from a file.
int watchModuleFile(void** module, const char* path, const Next& next,
                    CodeKind kind = CodeKind::Module, const embed::GivenOptions& given = {});
int watchModuleUnload(void* module, const Next& next);
/// Passes on the lookup of the module that a library is in the current context.
int watchModuleOf(void** module, void* library, const Next& next);
/// Passes on the lookup of a kernel in a module; `function` receives its handle.
int watchModuleKernel(const void** function, void* module, const char* name, const Next& next);

/// Passes on the lookup of all kernels of a module, of which at most `count` handles are wanted.
/// `countOf` returns how many there are.
int watchModuleKernels(const void** functions, unsigned count, void* module,
                       unsigned (*countOf)(void* module), const Next& next);

/// Passes on the lookup of another handle of a kernel: one of the program's own, or of loaded code.
int watchAlias(const void** function, const void* kernel, const Next& next);
/// The same for the shadow of a kernel in host code. If that was built without mneme, the runtime's
/// own calls of the driver tell the rest.
int watchShadow(const void** function, const void* shadow, const Next& next);

/// A launch of such a kernel, in any form that the vendor's functions take.
struct LoadedLaunch {
  const void* function = nullptr;
  mneme_dim3 grid{};
  mneme_dim3 block{};
  size_t sharedBytes = 0;
  void* stream = nullptr;
  void** args = nullptr;
  void** extra = nullptr; ///< the arguments in one buffer, if `args` is null
  bool isCooperative = false;
  const void* config = nullptr; ///< as mneme_launch::config, if there is one
};

/// While it lives, `next` is the vendor's call for this thread's launches that asRecorded()
/// describes. `next` must outlive it.
class AsWritten {
public:
  explicit AsWritten(const Next& next) noexcept;
  ~AsWritten();
  AsWritten(const AsWritten&) = delete;
  AsWritten& operator=(const AsWritten&) = delete;

private:
  const Next* outer_;
};

/// Returns the launch in the form that libmneme_rt takes. `kernel` is its function's first handle
/// (findKernel()).
mneme_launch asRecorded(const LoadedLaunch& launch, const void* kernel, void** args) noexcept;

/// Counts the calls of launchLoaded() in this thread.
uint64_t launchesOfLoaded() noexcept;

/// Records the launch if it is due. `next` makes it as the program wrote it.
int launchLoaded(const LoadedLaunch& launch, const Next& next);

} // namespace mneme::record
