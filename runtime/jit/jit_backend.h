// Room jit: the interface through which the tuned-kernel JIT uses a vendor's runtime. Each runtime
// has one implementation; everything above is written once. Functions throw mneme::Error only; the
// caller then prints one warning and runs the ahead-of-time kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/embed/kernel_blob.h"
#include "runtime/jit/tuned/dims.h"

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
  /// As tuned::Variant has it: in place of what the program has set for its kernel.
  uint32_t sharedCarveout = 0;
  /// Whether the kernel is compiled for the block it is launched with, regardless of the bounds in
  /// the source, as marks promise. A tuned launch without this is refused where the program's own
  /// would be.
  bool hasOwnBounds = false;
};

/// An executable graph of the program.
struct ExecutableGraph {
  uint32_t vendor = 0; ///< as in mneme_module_entry
  void* exec = nullptr;
  void* graph = nullptr; ///< what it was made from, or updated by
  bool isUpdate = false; ///< the latter
};

/// A kernel node of an executable graph, as the program put it there.
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

  /// Returns the number of the device that a launch by this thread would go to now; -1 if it is
  /// unknown, as without a context: the launch then runs unchanged. Cheap: called for every launch
  /// of a tuned kernel.
  virtual int currentDevice() noexcept = 0;
  /// Returns the target to compile for on this device: "sm_90", "cpu". \throws Error
  virtual std::string target(int device) = 0;
  /// Returns device::Description::name of the device. \throws Error
  virtual std::string deviceName(int device) = 0;
  /// Whether the code has places for addresses of variables that load() fills in
  /// (compile::GlobalPlace::address 0). Otherwise load() binds the variables by name.
  virtual bool needsPlacedGlobals() const = 0;

  /// Whether the launch may get another grid and block: not if its blocks are tied to each other
  /// (cooperative, clusters). Cheap: called for every launch of a tuned kernel.
  virtual bool mayReshape(const mneme_launch& launch) const noexcept {
    return launch.form == MNEME_LAUNCH_PLAIN;
  }

  /// Whether the launch becomes a node of a graph; true also if that is unknown. Cheap: called for
  /// every launch of a tuned kernel.
  virtual bool isCaptured(const mneme_launch&) noexcept { return false; }

  /// Calls `visit` with those kernels of an executable graph, just made or updated, that
  /// replaceIn() may be able to replace.
  virtual void visitKernels(const ExecutableGraph&,
                            const std::function<void(const GraphKernel&)>& /*visit*/) {}
  /// Replaces the node's kernel by the tuned one with these dimensions. Returns false if the node
  /// stays as it was. Later updates by the program (cudaGraphExecKernelNodeSetParams(),
  /// cudaGraphExecUpdate()) replace the node completely. The graph that the executable graph was
  /// made from is not touched.
  virtual bool replaceIn(const ExecutableGraph&, const GraphKernel&, LoadedKernel&,
                         const tuned::Dims&) noexcept {
    return false;
  }

  /// Raises the limit of dynamic shared memory of the program's kernel to what the launch needs,
  /// where the vendor requires that. Returns false if nothing changed.
  virtual bool allowSharedMemory(const mneme_launch&) noexcept { return false; }

  /// Whether the host can read the memory at `pointer`, an argument. Cheap: called for every launch
  /// of a kernel whose arrays or objects become constants.
  virtual bool isHostReadable(const void*) noexcept { return true; }
  /// Copies memory that the host cannot read. Returns false if that is impossible now, for example
  /// while a stream is captured.
  virtual bool copyToHost(void* /*to*/, const void* /*from*/, size_t /*sizeBytes*/) noexcept {
    return false;
  }

  /// Loads an image on the current device. Thread-safe. Safe while streams are captured.
  /// \throws Error
  virtual std::unique_ptr<LoadedKernel> load(const KernelImage& image) = 0;

  /// Launches the tuned kernel instead of the ahead-of-time one, on the launch's stream and in its
  /// form. Returns true and sets `status` (the vendor's code) if it was launched. Returns false if
  /// it cannot be launched this way: nothing has happened, and the ahead-of-time kernel must run.
  /// Thread-safe; allocates nothing.
  virtual bool launch(LoadedKernel& kernel, const mneme_launch& launch, const tuned::Dims& dims,
                      int& status) noexcept = 0;
};

/// Returns the address of a device variable on the current device, from the vendor's runtime in
/// this process; null if no runtime knows it.
const void* variablePlaceOf(const void* hostShadow) noexcept;

/// Makes the backend of the runtime that this process uses. Returns null if there is none, and puts
/// what is missing into `why`. Called once, at the first launch of a program with tuned kernels.
std::unique_ptr<Backend> makeBackend(const mneme_launch& launch, std::string& why);

} // namespace mneme::jit
