// Room recorder: finds the addresses of the program's device variables on each device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/artifact/recording.h"
#include "runtime/recorder/kernel_catalog.h"
#include "runtime/recorder/record_backend.h"

namespace mneme::record {

/// Makes the region of a device variable.
artifact::Region variableRegion(std::string name, const void* address, uint64_t sizeBytes,
                                bool isConstant = false);

/// The device variables of all instrumented units. Host code registers some of them. Others are
/// known to kernels only ("hidden"); these are found once a kernel of their module was launched.
/// The caller serialises calls, except for forgetAll().
class GlobalPlaces {
public:
  /// Both must outlive it.
  GlobalPlaces(Backend& backend, const KernelCatalog& catalog)
      : backend_(backend), catalog_(catalog) {}

  /// Returns the variables of `place`, which must be the current one. Asks the runtime again only
  /// if units were loaded or unloaded, a module was launched for the first time or forgetAll() was
  /// called since. Variables without an address yet are left out: no pointer can lead to them.
  const std::vector<artifact::Region>& find(const WorkPlace& place);
  /// Call it when units or devices lose their variables, as after a reset: find() asks again. May
  /// be called by any thread, with any lock held.
  void forgetAll() noexcept { ++losses_; }

private:
  /// The variables of a place, and the state of the program they were found in.
  struct Known {
    std::vector<const mneme_module_entry*> units;
    size_t launchedModules = 0;
    uint64_t losses = 0;
    std::vector<artifact::Region> regions;
  };
  /// Adds variables that host code does not register.
  void addHidden(const WorkPlace& place, std::vector<artifact::Region>& regions) const;

  Backend& backend_;
  const KernelCatalog& catalog_;
  std::map<WorkPlace, Known> known_;
  std::atomic<uint64_t> losses_{0}; ///< number of calls of forgetAll()
};

} // namespace mneme::record
