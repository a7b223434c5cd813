// Room emulator/runtimes: the program's registered kernels and variables, and how kernels become
// runnable. Kernels are compiled at their first launch from the IR in their fat binary.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/embed/blob_set.h"
#include "runtime/emulator/executor/executor.h"
#include "runtime/emulator/runtimes/core/status.h"

namespace mneme::cpu_runtime {

/// The storage of one device global, shared by the images of all kernels that refer to it.
struct GlobalStorage {
  std::string name;
  void* address = nullptr;
  size_t bytes = 0;
  bool isInitialised = false; ///< under the load lock
};

/// A registered fat binary. After its unregistration it lives as long as kernels refer to it.
struct FatBinary {
  const void* data = nullptr;       ///< null after unregistration
  const void* objectBase = nullptr; ///< load address of the ELF object that contains it
  bool isRead = false;
  embed::BlobSet blobs; ///< under the load lock; filled at first use
  std::map<std::string, std::shared_ptr<GlobalStorage>> globals; ///< under the load lock
  std::unique_ptr<device::cpu::Image> variables; ///< has their initial values; under the load lock
};

/// Runnable code of a kernel and the variables it refers to.
struct BoundImage {
  std::unique_ptr<device::cpu::Image> image;
  /// Read-only tables that only this code can name; under the load lock. Their names are
  /// meaningless in another image, whose optimiser may have created other tables.
  std::map<std::string, std::shared_ptr<GlobalStorage>> ownGlobals;
  /// The variables that the image refers to, in the image's order; under the load lock.
  std::vector<std::shared_ptr<GlobalStorage>> globals;
};

/// A registered kernel.
struct Kernel {
  std::string name; ///< mangled
  std::shared_ptr<FatBinary> binary;
  std::shared_ptr<const embed::KernelBlob> blob;
  BoundImage aheadOfTime;
  bool isListed = false; ///< known to have IR, or reported as having none; under the load lock
  std::atomic<bool> isReady{false};          ///< image loaded and globals initialised
  std::atomic<bool> hasVariants{false};      ///< another image of it has been prepared
  std::atomic<int> maxDynamicSharedBytes{0}; ///< set by gpuFuncSetAttribute; 0: the default
  std::atomic<int> carveout{-1};
};

/// Another image of a kernel that uses the same variables.
struct Variant {
  std::shared_ptr<Kernel> kernel;
  BoundImage bound;
  std::atomic<uint64_t> boundInLife{0}; ///< deviceLife() when the variables were bound; 0: never
};

// Registration. `binary` is the result of registerFatBinary(). Thread-safe.
void* registerFatBinary(const void* data, const void* wrapper);
void unregisterFatBinary(void* binary);
void registerKernel(void* binary, const void* handle, const char* name);
/// Returns the storage's address, or null if there is no room.
void* registerGlobal(void* binary, const void* hostShadow, const char* name, size_t bytes);

/// Returns null for an unregistered handle. Thread-safe; the result stays valid.
std::shared_ptr<Kernel> findKernel(const void* handle);

/// Finds the kernel's IR without a compiler. Returns NoKernelImageForDevice if it has none, which
/// is reported once on stderr. The first call lists all registered kernels that have none.
Status describe(Kernel& kernel);
/// Makes the kernel runnable: compiles and loads it, and binds and initialises its globals. \throws
/// mneme::Error
Status prepare(Kernel& kernel);

/// \throws mneme::Error if these bytes are not an image of the kernel
std::shared_ptr<Variant> loadVariant(const std::shared_ptr<Kernel>& kernel,
                                     std::span<const std::byte> image);
/// Binds and initialises the globals of a variant, once per life of the device. \throws
/// mneme::Error
Status prepare(Variant& variant);

/// Returns the variables of a prepared kernel, followed by the other initialised variables of its
/// program, because objects passed to the kernel may point to them.
std::vector<std::shared_ptr<GlobalStorage>> globalsOf(const Kernel& kernel);

/// Returns the program's initialised variables, except tables that only one kernel's code knows.
std::vector<std::shared_ptr<GlobalStorage>> initialisedGlobals();

/// Returns the storage of a host shadow variable, or null for an unknown symbol. With
/// `needsContents` the storage is initialised on return. \throws mneme::Error
std::shared_ptr<GlobalStorage> findGlobal(const void* hostShadow, bool needsContents);
/// Reads a fat binary, which may be freed afterwards. Returns whether it holds the IR of a kernel.
/// \throws mneme::Error
bool hasKernels(void* binary);
/// Like hasKernels(), for one kernel. \throws mneme::Error
bool hasKernel(void* binary, const std::string& name);
/// A variable as the kernels of one fat binary use it.
struct GlobalUse {
  size_t bytes = 0; ///< 0: no kernel refers to it
  std::vector<std::string> kernels;
};
/// Finds an unregistered variable and the kernels that use it. \throws mneme::Error
GlobalUse findUses(void* binary, const std::string& name);
/// Marks a variable as initialised after the host has overwritten all of it.
void markInitialised(GlobalStorage& global);
/// Makes every global receive its initial value again at its next use (device reset).
void resetGlobals();
/// Returns the architecture of the first registered kernel that has IR; empty if there is none.
std::string programArch();
/// Returns the number of the device's current life, from 1; each reset begins a new life.
/// Thread-safe.
uint64_t deviceLife() noexcept;

} // namespace mneme::cpu_runtime
