// Room cpu_runtime: what the program registered, and how a kernel becomes runnable. Kernels
// are compiled at their first launch from the IR in their fat binary.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cpu_runtime/core/status.h"
#include "runtime/device/cpu/executor.h"
#include "runtime/embed/kernel_blob.h"

namespace mneme::cpu_runtime {

/// Storage of one device global; shared by the images of all kernels that refer to it.
struct GlobalStorage {
  std::string name;
  void* address = nullptr;
  size_t bytes = 0;
  bool isInitialised = false; ///< under the load lock
};

/// One registered fat binary. Outlives its unregistration as long as kernels refer to it.
struct FatBinary {
  const void* data = nullptr;       ///< null once unregistered
  const void* objectBase = nullptr; ///< load address of the ELF object it came from
  bool isRead = false;
  embed::BlobSet blobs; ///< under the load lock; filled at first use
  std::map<std::string, std::shared_ptr<GlobalStorage>> globals; ///< under the load lock
  std::unique_ptr<device::cpu::Image> variables; ///< has their initial values; under the load lock
};

/// Runnable code of a kernel and the variables it refers to.
struct BoundImage {
  std::unique_ptr<device::cpu::Image> image;
  /// Tables only this code can name and nobody writes; under the load lock. Their names say
  /// nothing in another image, whose optimiser may have made others.
  std::map<std::string, std::shared_ptr<GlobalStorage>> ownGlobals;
  /// What the image refers to, in its order; under the load lock.
  std::vector<std::shared_ptr<GlobalStorage>> globals;
};

/// One registered kernel.
struct Kernel {
  std::string name; ///< mangled
  std::shared_ptr<FatBinary> binary;
  std::shared_ptr<const embed::KernelBlob> blob;
  BoundImage aheadOfTime;
  std::atomic<bool> isReady{false};          ///< image loaded and globals initialised
  std::atomic<bool> hasVariants{false};      ///< some other image of it has been prepared
  std::atomic<int> maxDynamicSharedBytes{0}; ///< opted in by gpuFuncSetAttribute; 0: the default
  std::atomic<int> carveout{-1};
};

/// Another image of a kernel, on the same variables.
struct Variant {
  std::shared_ptr<Kernel> kernel;
  BoundImage bound;
  std::atomic<uint64_t> boundInLife{0}; ///< deviceLife() when the variables were bound; 0: never
};

// Registration; `binary` is what registerFatBinary returned. Thread-safe.
void* registerFatBinary(const void* data, const void* wrapper);
void unregisterFatBinary(void* binary);
void registerKernel(void* binary, const void* handle, const char* name);
/// Returns the storage's address, or null when there is no room.
void* registerGlobal(void* binary, const void* hostShadow, const char* name, size_t bytes);

/// Null for a handle nobody registered. Thread-safe; the result stays valid.
std::shared_ptr<Kernel> findKernel(const void* handle);

/// Finds the kernel's IR; needs no compiler. NoKernelImageForDevice when it carries none (said once
/// on stderr).
Status describe(Kernel& kernel);
/// Makes the kernel runnable: compiles, loads, binds and initialises globals. \throws mneme::Error
Status prepare(Kernel& kernel);

/// \throws mneme::Error if these bytes are no image of the kernel
std::shared_ptr<Variant> loadVariant(const std::shared_ptr<Kernel>& kernel,
                                     std::span<const std::byte> image);
/// Binds and initialises globals of a variant, once per life of the device. \throws mneme::Error
Status prepare(Variant& variant);

/// Variables of a prepared kernel, then others of its program that have their values by now:
/// objects it is given may point to them.
std::vector<std::shared_ptr<GlobalStorage>> globalsOf(const Kernel& kernel);

/// Every variable of the program whose content is in place, tables that only one kernel's code
/// knows apart.
std::vector<std::shared_ptr<GlobalStorage>> initialisedGlobals();

/// Storage behind a host shadow variable. With `needsContents` its initial value is in place on
/// return. Null for an unknown symbol. \throws mneme::Error
std::shared_ptr<GlobalStorage> findGlobal(const void* hostShadow, bool needsContents);
/// Reads a fat binary, which may go afterwards; whether it holds IR of a kernel. \throws
/// mneme::Error
bool hasKernels(void* binary);
/// The same of one kernel. \throws mneme::Error
bool hasKernel(void* binary, const std::string& name);
/// A variable as the kernels of one fat binary know it.
struct GlobalUse {
  size_t bytes = 0; ///< 0: no kernel refers to it
  std::vector<std::string> kernels;
};
/// Finds a variable that nobody registered, and the kernels that use it. \throws mneme::Error
GlobalUse findUses(void* binary, const std::string& name);
/// The whole storage has been overwritten by the host: its initial value no longer matters.
void markInitialised(GlobalStorage& global);
/// Every global gets its initial value again at its next use (device reset).
void resetGlobals();
/// Architecture of the first registered kernel that carries IR; empty if there is none.
std::string programArch();
/// Counts from 1; a reset begins the next. Thread-safe.
uint64_t deviceLife() noexcept;

} // namespace mneme::cpu_runtime
