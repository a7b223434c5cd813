// Room record: what is known about the kernels this process launches.
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

#include "runtime/abi/mneme_rt.h"
#include "runtime/artifact/recording.h"
#include "runtime/embed/kernel_blob.h"
#include "runtime/record/backend.h"
#include "runtime/record/loaded_modules.h"
#include "runtime/record/settings.h"

namespace mneme::record {

/// What became of the launches with one dynamic hash.
enum class Fate : uint8_t { Recorded, Passed, Failed };

/// One kernel (static hash), whatever number of host handles it has.
struct KernelState {
  std::mutex mutex;
  struct Instance {
    Fate fate = Fate::Recorded;
    uint64_t occurrences = 0;
  };
  std::unordered_map<uint64_t, Instance> instances; ///< by dynamic hash
  uint64_t launches = 0;
  std::map<size_t, uint64_t> recorded; ///< by entry of Settings::shapes
  std::map<size_t, uint64_t> passed;   ///< launches before an entry's first, by entry
  uint64_t skipped = 0;                ///< launches that passed first, by MNEME_SKIP_RECORDINGS
  bool isAnnounced = false;            ///< the writer knows the kernel
  bool isGivenUp = false; ///< it was waited for in vain: no more of its launches are recorded
  bool wasHeldUp = false; ///< what the device did before it was waited for in vain
};

/// A device variable the kernel refers to, where the host has no shadow of it.
struct HiddenGlobal {
  std::string name;
  bool isConstant = false; ///< no kernel writes it
};

/// A device variable the kernel refers to, where the host can find it.
struct GlobalPlace {
  std::string name;
  const void* hostShadow = nullptr;
  uint64_t sizeBytes = 0;
  bool isConstant = false;
};

/// One host handle.
struct KernelInfo {
  const mneme_module_entry* module = nullptr;
  void* loadedModule = nullptr; ///< where the program loaded the code itself: the vendor's handle
  bool isWanted = false;
  std::string whyNot; ///< a sentence when it cannot be recorded
  std::shared_ptr<const embed::KernelBlob> blob;
  std::vector<std::shared_ptr<const embed::KernelBlob>> modules;
  std::vector<GlobalPlace> globals;
  std::vector<HiddenGlobal> hiddenGlobals;
  std::set<std::string> globalNames; ///< in its code, and in code linked with it
  bool knowsFunctions = false;       ///< a pointer it is given may be one to a function
  std::shared_ptr<KernelState> state;

  KernelPlace placeOf(const void* handle) const { return {handle, loadedModule, module}; }
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
  /// Both must outlive it.
  KernelCatalog(const Settings& settings, const LoadedModules& loaded)
      : settings_(settings), loaded_(loaded) {}

  /// Null when the handle is neither from an instrumented unit nor from code the program loaded
  /// itself. Read once per handle, then one lookup.
  std::shared_ptr<const KernelInfo> find(const void* handle);
  /// The variables that kernels launched so far, and others of their modules, use.
  std::vector<ModuleGlobal> moduleGlobals() const;
  /// How many modules that are.
  size_t moduleCount() const;
  /// Handles of an unloaded unit may come back as other kernels.
  void forget(const mneme_module_entry* module);
  void visitStates(const std::function<void(uint64_t staticHash, KernelState&)>& visit);

private:
  std::shared_ptr<const KernelInfo> read(const void* handle);
  std::string findCode(const void* handle, KernelInfo& info);
  std::shared_ptr<const embed::BlobSet> blobsOf(const mneme_module_entry* module);

  const Settings& settings_;
  const LoadedModules& loaded_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<const KernelInfo>> infos_;
  std::map<const mneme_module_entry*, std::shared_ptr<const embed::BlobSet>> blobs_;
  std::map<uint64_t, std::shared_ptr<KernelState>> states_;
};

/// Whether the kernel's code, or code linked with it, has functions whose names begin so.
bool refersTo(const KernelInfo& info, std::span<const char* const> names);

/// Identity of a launch beside its kernel: grid, block, shared memory, cooperative flag, cluster
/// and the bytes of every argument that is no pointer. Aggregates count with all their bytes,
/// pointers and padding in them included: nothing tells them apart here.
uint64_t dynamicHash(const embed::KernelBlob& blob, const mneme_launch& launch,
                     const LaunchTraits& traits) noexcept;

std::vector<std::vector<std::byte>> argumentValues(const embed::KernelBlob& blob,
                                                   const mneme_launch& launch);
std::vector<uint64_t> pointerArguments(const embed::KernelBlob& blob, const mneme_launch& launch);
/// The words of by-value aggregates, and integers of that size: some of them may be pointers.
std::vector<uint64_t> wordArguments(const embed::KernelBlob& blob, const mneme_launch& launch);

/// What the kernel's code, or code linked with it, reads that a recording made on `device` does not
/// hold: "clocks", ... On the CPU device textures and surfaces are memory like any other.
std::set<std::string> unrecordedReads(const KernelInfo& info, const std::string& device);

/// A sentence on them; empty if there are none.
std::string warningOfReads(const KernelInfo& info, const std::string& device);

/// The record of a kernel without instances.
artifact::KernelRecord describeKernel(const KernelInfo& info, const std::string& device);

} // namespace mneme::record
