#include "runtime/recorder/backends/hip/hip_gpu.h"

#include "runtime/devices/hip/hip_bulk_code.h"
#include "runtime/devices/hip/hip_driver.h"
#include "runtime/recorder/backends/hip/runtime.h"

namespace mneme::record::gpu {
namespace {

using namespace device::hip;

constexpr int kRelaxed = 2; // hipStreamCaptureModeRelaxed
constexpr int kHip6 = 60000000;

void* pointerTo(uint64_t address) { return reinterpret_cast<void*>(address); }

class Amd final : public Vendor {
public:
  explicit Amd(const device::hip::Driver& driver) : Vendor(driver), hip_(driver) {
    int version = 0;
    isOld_ = runtime_.version && runtime_.version(&version) == hipSuccess && version < kHip6;
  }

  uint32_t multiprocessors(int device) const override {
    int count = 1;
    hip_.require(hip_.hipDeviceGetAttribute(&count, hipDeviceAttributeMultiprocessorCount, device),
                 "asking for the GPU's multiprocessors");
    return static_cast<uint32_t>(count);
  }

  void keepOffCaptures() const noexcept override {
    int mode = kRelaxed;
    if (runtime_.exchangeCaptureMode)
      runtime_.exchangeCaptureMode(&mode);
  }

  /// The driver is the runtime.
  KeepsLastError keepLastError() const noexcept override { return {runtime_.peek, runtime_.clear}; }

  std::optional<bool> isHostMemory(uint64_t address) const noexcept override {
    PointerAttribute found;
    if (!ask(found, address))
      return std::nullopt;
    const int host = isOld_ ? 0 : 1;
    return found.type == host && !found.isManaged;
  }

  bool allocationAt(uint64_t address, uint64_t& start,
                    uint64_t& sizeBytes) const noexcept override {
    void* base = nullptr;
    size_t bytes = 0;
    if (!runtime_.addressRange ||
        runtime_.addressRange(&base, &bytes, pointerTo(address)) != hipSuccess)
      return false;
    start = reinterpret_cast<uint64_t>(base);
    sizeBytes = bytes;
    return true;
  }

  int deviceOf(uint64_t address) const noexcept override {
    PointerAttribute found;
    return ask(found, address) ? found.device : -1;
  }

  const device::gpu::BulkCode& bulkCode() const override { return device::hip::bulkCode(); }

  bool canPlace(int device) const noexcept override {
    return has(hipDeviceAttributeVirtualMemoryManagementSupported, device);
  }

  bool usesPageable(int device) const noexcept override {
    return has(hipDeviceAttributePageableMemoryAccess, device);
  }

  int peerOf(int owner, unsigned ordinal) const noexcept override {
    int canAccess = 0;
    const int peer = static_cast<int>(ordinal);
    return runtime_.canAccessPeer &&
                   runtime_.canAccessPeer(&canAccess, peer, owner) == hipSuccess && canAccess
               ? peer
               : -1;
  }

private:
  bool has(hipDeviceAttribute_t attribute, int device) const noexcept {
    int isSupported = 0;
    return hip_.hipDeviceGetAttribute(&isSupported, attribute, device) == hipSuccess && isSupported;
  }

  /// Since HIP 6 memory that is not known has attributes, too.
  bool ask(PointerAttribute& found, uint64_t address) const noexcept {
    return runtime_.pointerAttributes &&
           runtime_.pointerAttributes(&found, pointerTo(address)) == hipSuccess &&
           (isOld_ || found.type != 0 || found.isManaged);
  }

  const device::hip::Driver& hip_;
  const HipRuntime& runtime_ = HipRuntime::get();
  bool isOld_ = false;
};

} // namespace

Side currentHipSide() noexcept {
  const device::hip::Driver* driver = device::hip::Driver::find();
  int device = 0;
  if (!driver || driver->hipGetDevice(&device) != hipSuccess)
    return {};
  static const auto* const vendor = new Amd(*driver); // as the driver, for good
  return {vendor, contextOf(device), device};
}

} // namespace mneme::record::gpu
