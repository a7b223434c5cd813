// A program with kernels, a vendor's runtime, a device and a compiler, all of them made up.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/core/base/error.h"
#include "runtime/jit/engine.h"
#include "tests/unit/embed/image_maker.h"

namespace mneme::jit::test {

inline constexpr uint64_t kHash = 0x1234;
inline constexpr int kVendorStatus = 17; ///< what the vendor's launch function returns
inline constexpr int kTunedStatus = 42;  ///< what launches of tuned kernels return

/// A translation unit with kernels (pointer p, int n), registered while it lives. Every kernel has
/// the hash kHash.
class Unit {
public:
  /// Handles are `firstHandle`, `firstHandle` + 1, ... With `isMarked` the program marks them for
  /// compilation at run time.
  Unit(uintptr_t firstHandle, const std::vector<std::string>& kernels, bool carriesIr = true,
       bool isMarked = false);
  ~Unit() { leave(); }
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  void leave();
  const mneme_module_entry* entry() const { return &entry_; }

private:
  struct Wrapper {
    uint32_t magic, version;
    const void* data;
    const void* unused;
  };
  embed::test::Buffer fatbin_;
  Wrapper wrapper_{};
  std::vector<std::string> names_;
  std::vector<mneme_kernel_entry> kernels_;
  mneme_module_entry entry_{};
  bool isThere_ = true;
};

/// One launch, and how it ended.
struct Launch {
  explicit Launch(uintptr_t handle, int32_t n = 100, mneme_dim3 grid = {8, 1, 1},
                  mneme_dim3 block = {256, 1, 1});
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  int run(Engine& engine) { return engine.launch(launch); }

  void* pointer = nullptr;
  int32_t n;
  void* args[2] = {&pointer, &n};
  mneme_launch launch{};
};

/// How often the vendor's launch function was called by any thread.
extern std::atomic<int> vendorCalls;

/// Device and compiler of one engine, and what they saw.
struct World {
  explicit World(const std::string& tunedFile, Settings settings = {});
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // What goes wrong, or waits.
  std::function<void(const compile::Request&)> onCompile = [](const auto&) {};
  std::function<void()> onLoad = [] {}, onMakeBackend = [] {}, onWarn = [] {};
  /// Launches on it are captured; it holds kernels like these.
  void* capturedStream = nullptr;
  std::vector<GraphKernel> inGraph;
  bool hasBackend = true, refusesLaunch = false, placesGlobals = false, isStored = false;
  std::atomic<int> device{0};

  // What was seen; under `mutex` as long as threads run.
  std::mutex mutex;
  std::vector<compile::Request> requests;
  std::vector<KernelImage> loads; ///< their images are gone
  std::vector<std::string> warnings, traces;
  tuned::Dims lastDims;
  std::vector<tuned::Dims> replaced; ///< kernels of graphs, by tuned ones with these dimensions
  std::atomic<int> compiled{0}, loaded{0}, tunedLaunches{0};

  Engine& engine; ///< lives for ever, as in a program
};

/// Lets threads wait until a test wants them to go on.
class Gate {
public:
  void open();
  void wait();

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool isOpen_ = false;
};

} // namespace mneme::jit::test
