// Room record: where the device variables of the program are, whoever uses them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/abi/mneme_rt.h"
#include "runtime/artifact/recording.h"
#include "runtime/record/backend.h"
#include "runtime/record/kernel_catalog.h"

namespace mneme::record {

artifact::Region variableRegion(std::string name, const void* address, uint64_t sizeBytes,
                                bool isConstant = false);

/// Variables of every instrumented unit: those the host program can name, and those that only
/// kernels know, as soon as one of their module was launched. Calls are serialised by the caller,
/// unless said otherwise.
class GlobalPlaces {
public:
  /// Both must outlive it.
  GlobalPlaces(Backend& backend, const KernelCatalog& catalog)
      : backend_(backend), catalog_(catalog) {}

  /// Those of `device`, which is current. Asks the runtime again only when units came to the
  /// program since. What has no place yet is left out: no pointer leads there.
  const std::vector<artifact::Region>& find(unsigned device);
  /// Units or devices have lost what they had. Any thread, and with any lock held.
  void forgetAll() noexcept { ++losses_; }

private:
  struct Known {
    std::vector<const mneme_module_entry*> units;
    size_t launchedModules = 0;
    uint64_t losses = 0;
    std::vector<artifact::Region> regions;
  };
  void addHidden(std::vector<artifact::Region>& regions) const;

  Backend& backend_;
  const KernelCatalog& catalog_;
  std::map<unsigned, Known> known_;
  std::atomic<uint64_t> losses_{0};
};

} // namespace mneme::record
