// Room jit: what the tuned-kernel JIT needs of a vendor's runtime. One implementation per runtime;
// everything above it is written once. Functions throw mneme::Error only; the caller turns that
// into one warning and the ahead-of-time kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/mneme_rt.h"
#include "runtime/embed/kernel_blob.h"
#include "runtime/tuned/dims.h"

namespace mneme::jit {

/// A tuned kernel, loaded on one device. Never destroyed while launches may be in flight.
class LoadedKernel {
public:
  virtual ~LoadedKernel() = default;
};

/// What a tuned kernel is loaded from.
struct KernelImage {
  std::span<const std::byte> image; ///< compile::Result::image
  std::string kernel;               ///< mangled name
  const void* handle = nullptr;     ///< host handle of the ahead-of-time kernel: its attributes and
                                    ///< device variables are shared
  const mneme_module_entry* module = nullptr; ///< the unit that registered the handle
  /// Device variables the kernel refers to (of all linked blobs). Their storage stays the
  /// program's.
  std::vector<embed::KernelGlobal> globals;
  /// It is compiled for the block it is launched with, whatever bounds the source has, as marks
  /// promise; a tuned launch is refused where the program's own would be.
  bool hasOwnBounds = false;
};

/// An executable graph of the program.
struct ExecutableGraph {
  uint32_t vendor = 0; ///< as in mneme_module_entry
  void* exec = nullptr;
  void* graph = nullptr; ///< what it was made from
};

/// A kernel in one, as the program put it there.
struct GraphKernel {
  void* node = nullptr;
  const void* handle = nullptr;
  tuned::Dims dims;
  uint64_t sharedBytes = 0;
  void** args = nullptr;
  bool mayReshape = false; ///< as Backend::mayReshape()
};

class Backend {
public:
  virtual ~Backend() = default;

  /// Number of the device a launch made by this thread now goes to; -1 if that cannot be told (no
  /// context yet): the launch is then left as it is. Cheap: called for every launch of a tuned
  /// kernel.
  virtual int currentDevice() noexcept = 0;
  /// What runtime/compile is asked for on this device: "sm_90", "cpu". \throws Error
  virtual std::string target(int device) = 0;
  /// What device::Description::name says. \throws Error
  virtual std::string deviceName(int device) = 0;
  /// Whether variables are compiled in as places that load() fills in
  /// (compile::GlobalPlace::address 0); otherwise load() binds them.
  virtual bool needsPlacedGlobals() const = 0;

  /// Whether the launch may get another grid and block: not if its blocks are tied to each other
  /// (cooperative, clusters). Cheap: called for every launch of a tuned kernel.
  virtual bool mayReshape(const mneme_launch& launch) const noexcept {
    return launch.form == MNEME_LAUNCH_PLAIN;
  }

  /// Whether the launch becomes a node of a graph, or that cannot be told. Cheap: called for every
  /// launch of a tuned kernel.
  virtual bool isCaptured(const mneme_launch&) noexcept { return false; }

  /// Calls `visit` with the kernels of an executable graph that was just made or updated, as far as
  /// replaceIn() can do something about them.
  virtual void visitKernels(const ExecutableGraph&,
                            const std::function<void(const GraphKernel&)>& /*visit*/) {}
  /// Lets the graph run the tuned kernel with these dimensions there. False: it stays as it was.
  /// What the program then gives the node (cudaGraphExecKernelNodeSetParams(),
  /// cudaGraphExecUpdate()) takes its place whole; the graph it was made from is not touched.
  virtual bool replaceIn(const ExecutableGraph&, const GraphKernel&, LoadedKernel&,
                         const tuned::Dims&) noexcept {
    return false;
  }

  /// Lets the program's kernel have as much dynamic shared memory as a launch wants, where that has
  /// to be asked for. False if nothing changed.
  virtual bool allowSharedMemory(const mneme_launch&) noexcept { return false; }

  /// Whether the host can read what `pointer`, an argument, leads to. Cheap: called for every
  /// launch of a kernel whose arrays or objects become constants.
  virtual bool isHostReadable(const void*) noexcept { return true; }
  /// Copies content that it cannot. False if that cannot be done now: a stream may be captured.
  virtual bool copyToHost(void* /*to*/, const void* /*from*/, size_t /*sizeBytes*/) noexcept {
    return false;
  }

  /// Loads an image on the current device. Thread-safe. Safe while streams are captured.
  /// \throws Error
  virtual std::unique_ptr<LoadedKernel> load(const KernelImage& image) = 0;

  /// Launches in place of the ahead-of-time kernel, on the launch's stream and in its form. Returns
  /// true and sets `status` (the vendor's code) if the kernel was launched; false if it cannot be
  /// launched this way, in which case nothing happened and the ahead-of-time kernel shall run.
  /// Thread-safe; no allocation.
  virtual bool launch(LoadedKernel& kernel, const mneme_launch& launch, const tuned::Dims& dims,
                      int& status) noexcept = 0;
};

/// Where a device variable of the program is on the current device, as the runtime in this process
/// says; null if none here knows it.
const void* variablePlaceOf(const void* hostShadow) noexcept;

/// The backend of the runtime this process uses; null if there is none. `why` then says what is
/// missing. Called once, at the first launch of a program with tuned kernels.
std::unique_ptr<Backend> makeBackend(const mneme_launch& launch, std::string& why);

} // namespace mneme::jit
