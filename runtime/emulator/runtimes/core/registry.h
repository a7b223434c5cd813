// Room emulator/runtimes: the tables of kernels.h, shared by registry.cpp and kernel_loader.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "runtime/emulator/runtimes/core/kernels.h"

namespace mneme::cpu_runtime {

/// Never destroyed, because static destructors may launch kernels. Lock order: load before tables.
struct Registry {
  static Registry& instance();

  std::shared_mutex tables; ///< guards the three members below
  std::unordered_map<const void*, std::shared_ptr<Kernel>> kernels;
  std::unordered_map<const void*, std::pair<std::shared_ptr<FatBinary>, std::string>> shadows;
  std::vector<std::shared_ptr<FatBinary>> binaries;

  std::atomic<uint64_t> deviceLife{1};
  size_t listedKernels = 0; ///< `kernels` when those without IR were listed; under the load lock
  std::mutex load;          ///< guards contents of fat binaries, globals and images
};

/// Returns null if the handle is not (or no longer) that of a fat binary. Takes the tables lock.
std::shared_ptr<FatBinary> findBinary(void* handle);
/// Returns the fat binaries of the same ELF object, `binary` first. Takes the tables lock.
std::vector<std::shared_ptr<FatBinary>> siblings(const std::shared_ptr<FatBinary>& binary);

} // namespace mneme::cpu_runtime
