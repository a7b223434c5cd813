// Room recorder: facts about the kernels that this process launches.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/artifact/recording.h"
#include "runtime/core/embed/blob_set.h"
#include "runtime/core/loaded/loaded_modules.h"
#include "runtime/recorder/record_backend.h"
#include "runtime/recorder/record_settings.h"

namespace mneme::record {

using loaded::LoadedContent;
using loaded::LoadedModule;
using loaded::LoadedModules;

/// What happened to the launches with one dynamic hash.
enum class Fate : uint8_t { Recorded, Passed, Failed };

/// One kernel (static hash), with any number of host handles.
struct KernelState {
  std::mutex mutex;
  struct Instance {
    Fate fate = Fate::Recorded;
    uint64_t occurrences = 0;
  };
  std::unordered_map<uint64_t, Instance> instances; ///< by dynamic hash
  uint64_t launches = 0;
  std::map<size_t, uint64_t> recorded; ///< by entry of Settings::shapes
  std::map<size_t, uint64_t>
      passed;               ///< launches that were passed over before an entry's first, by entry
  uint64_t skipped = 0;     ///< launches passed over first, by MNEME_SKIP_RECORDINGS
  bool isAnnounced = false; ///< whether the writer knows the kernel
  bool isGivenUp = false;   ///< a wait for it timed out: no more of its launches are recorded
  bool wasHeldUp = false;   ///< a wait for earlier work of the device timed out
};

/// A device variable that the kernel refers to and that has no shadow on the host.
struct HiddenGlobal {
  std::string name;
  bool isConstant = false; ///< no kernel writes it
};

/// A device variable that the kernel refers to and that the host can find.
struct GlobalPlace {
  std::string name;
  const void* hostShadow = nullptr;
  uint64_t sizeBytes = 0;
  bool isConstant = false;
};

/// One host handle.
struct KernelInfo {
  const mneme_module_entry* module = nullptr;
  void* loadedModule = nullptr; ///< the vendor's handle, if the program loaded the code itself
  void* context = nullptr;      ///< as in KernelPlace
  bool isOfLibrary = false;     ///< as in KernelPlace
  bool isBuiltIn = false;       ///< as in LoadedModule
  bool isOfVendor = false;      ///< as in LoadedModule
  bool isWanted = false;
  std::string whyNot; ///< why it cannot be recorded; empty if it can
  std::shared_ptr<const embed::KernelBlob> blob;
  std::vector<std::shared_ptr<const embed::KernelBlob>> modules;
  std::set<std::string> architectures; ///< of the unit's code
  std::vector<GlobalPlace> globals;
  std::vector<HiddenGlobal> hiddenGlobals;
  std::set<std::string> globalNames; ///< variables in its code and in code linked with it
  bool knowsFunctions = false;       ///< whether its pointers may point to functions
  bool usesHeap = false;             ///< whether it allocates or frees memory itself
  std::shared_ptr<KernelState> state;

  KernelPlace placeOf(const void* handle) const {
    return {handle, loadedModule, isOfLibrary, module, context};
  }
};

/// A device variable and a kernel whose module holds it.
struct ModuleGlobal {
  KernelPlace kernel;
  std::string name;
  uint64_t sizeBytes = 0;
  bool isConstant = false;
};

/// Thread-safe.
class KernelCatalog {
public:
  /// All must outlive it.
  KernelCatalog(const Settings& settings, const LoadedModules& loaded, Backend& backend)
      : settings_(settings), loaded_(loaded), backend_(backend) {}

  /// Returns null if the handle is neither from an instrumented unit nor from code that the program
  /// loaded itself. Reads code once per handle; later calls are one lookup.
  std::shared_ptr<const KernelInfo> find(const void* handle);
  /// Returns the variables of the kernels launched so far, and of others in their modules.
  std::vector<ModuleGlobal> moduleGlobals() const;
  /// Returns the kernels launched so far if --kernels matches none of them, else nothing: their
  /// names, or the places of those with long names.
  std::set<std::string> allUnwanted() const;
  /// Returns the number of these modules.
  size_t moduleCount() const;
  /// Forgets the handles of an unloaded unit, which may be used again for other kernels.
  void forget(const mneme_module_entry* module);
  /// Forgets one handle, which is another kernel's from now on.
  void forgetHandle(const void* handle);
  void visitStates(const std::function<void(uint64_t staticHash, KernelState&)>& visit);

private:
  std::shared_ptr<const KernelInfo> read(const void* handle);
  void keepName(const KernelInfo& info);
  std::string findCode(const void* handle, KernelInfo& info);
  std::shared_ptr<const embed::KernelBlob> blobWithoutIr(const void* handle);
  std::shared_ptr<const embed::BlobSet> blobsOf(const mneme_module_entry* module);

  const Settings& settings_;
  const LoadedModules& loaded_;
  Backend& backend_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<const KernelInfo>> infos_;
  std::map<const mneme_module_entry*, std::shared_ptr<const embed::BlobSet>> blobs_;
  std::map<const mneme_module_entry*, embed::DeviceCode> codes_; ///< without IR
  std::map<uint64_t, std::shared_ptr<KernelState>> states_;
  std::set<std::string> names_; ///< of the kernels launched so far, as allUnwanted() returns them
  bool hasWanted_ = false;
};

/// Whether the kernel's code, or code linked with it, has functions with these name prefixes.
bool refersTo(const KernelInfo& info, std::span<const char* const> names);

/// Whether the kernel says which bodies of conditional nodes run, by one of these functions: it
/// belongs to its graph. Also if that is unknown.
bool setsConditions(const KernelInfo& info, std::span<const char* const> setters);

/// Returns the identity of a launch of a kernel: a hash of grid, block, shared memory, cooperative
/// flag, cluster and the bytes of every argument that is not a pointer. Aggregates count with all
/// their bytes, including pointers and padding, which cannot be distinguished here. Without IR, a
/// word of the arguments for which `isAddress` holds is a pointer.
uint64_t dynamicHash(const embed::KernelBlob& blob, const mneme_launch& launch,
                     const LaunchTraits& traits,
                     const std::function<bool(uint64_t)>& isAddress = {});

std::vector<std::vector<std::byte>> argumentValues(const embed::KernelBlob& blob,
                                                   const mneme_launch& launch);
std::vector<uint64_t> pointerArguments(const embed::KernelBlob& blob, const mneme_launch& launch);
/// Returns the words of by-value aggregates, and integers of that size: some of them may be
/// pointers.
std::vector<uint64_t> wordArguments(const embed::KernelBlob& blob, const mneme_launch& launch);

/// Returns what the kernel's code, or code linked with it, reads that a recording made on `device`
/// does not contain: "clocks", ... On the CPU device textures and surfaces are ordinary memory.
std::set<std::string> unrecordedReads(const KernelInfo& info, const std::string& device);

/// Returns a warning about them; empty if there are none. `isLaunchAsked`: not about those that a
/// recording of each launch holds or does not hold.
std::string warningOfReads(const KernelInfo& info, const std::string& device,
                           bool isLaunchAsked = false);

/// Returns the modules of the kernel's record: its IR, or the image it was loaded from.
std::vector<std::vector<std::byte>> recordedCode(const KernelInfo& info);

/// Makes the record of a kernel, without instances.
artifact::KernelRecord describeKernel(const KernelInfo& info, const std::string& device);

/// If Triton keeps the IR of a cubin, the record becomes one with IR, and has cubin and PTX beside
/// it; `code` becomes the IR.
void addCompilersCode(const KernelInfo& info, artifact::KernelRecord& record,
                      std::vector<std::vector<std::byte>>& code);

} // namespace mneme::record
