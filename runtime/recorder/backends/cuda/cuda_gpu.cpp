#include "runtime/recorder/backends/cuda/cuda_gpu.h"

#include <atomic>

#include "runtime/devices/cuda/application.h"
#include "runtime/devices/cuda/cuda_bulk_code.h"
#include "runtime/devices/cuda/device_heap.h"

namespace mneme::record::gpu {
namespace {

using namespace device::cuda;

/// Whether the program works in contexts besides the primary ones.
std::atomic<bool> hasOthers{false};

class Nvidia final : public Vendor {
public:
  explicit Nvidia(const device::cuda::Driver& driver) : Vendor(driver), cuda_(driver) {}

  uint32_t multiprocessors(int device) const override {
    int count = 1;
    check(cuda_.cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
          "asking for the GPU's multiprocessors");
    return static_cast<uint32_t>(count);
  }

  void keepOffCaptures() const noexcept override {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    cuda_.cuThreadExchangeStreamCaptureMode(&mode);
  }

  std::optional<bool> isHostMemory(uint64_t address) const noexcept override {
    unsigned type = 0;
    if (!ask(type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address))
      return std::nullopt;
    return type == CU_MEMORYTYPE_HOST;
  }

  bool allocationAt(uint64_t address, uint64_t& start,
                    uint64_t& sizeBytes) const noexcept override {
    // The pointer's own attributes name the whole reservation around memory that a program maps,
    // with its holes and inaccessible parts.
    CUdeviceptr begin = 0;
    size_t bytes = 0;
    const bool isKnown = cuda_.cuMemGetAddressRange(&begin, &bytes, address) == CUDA_SUCCESS;
    start = begin;
    sizeBytes = bytes;
    return isKnown;
  }

  bool mayUse(uint64_t address, int device) const noexcept override {
    CUdeviceptr reservation = 0;
    uint64_t begin = 0, bytes = 0;
    // Other memory is not asked about: it fills what the attributes name.
    if (!ask(reservation, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) ||
        (allocationAt(address, begin, bytes) && begin == reservation && isWhole(address, bytes)))
      return true;
    unsigned long long flags = 0;
    CUmemLocation location;
    location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = device;
    return !cuda_.cuMemGetAccess ||
           cuda_.cuMemGetAccess(&flags, &location, address) != CUDA_SUCCESS || flags != 0;
  }

  int deviceOf(uint64_t address) const noexcept override {
    int ordinal = -1;
    CUdevice device = -1;
    return ask(ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) &&
                   cuda_.cuDeviceGet(&device, ordinal) == CUDA_SUCCESS
               ? device
               : -1;
  }

  bool isOfOther(ContextHandle context, uint64_t address) const noexcept override {
    CUcontext owner = nullptr;
    return hasOthers.load(std::memory_order_relaxed) &&
           ask(owner, CU_POINTER_ATTRIBUTE_CONTEXT, address) && owner && owner != context;
  }

  AddressRange heap(StreamHandle stream, std::chrono::nanoseconds atMost) const override {
    return device::cuda::findHeap(cuda_, stream, std::chrono::duration<double>(atMost).count());
  }

  const device::gpu::BulkCode& bulkCode() const override { return device::cuda::bulkCode(); }

  bool canPlace(int device) const noexcept override {
    return has(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device);
  }

  bool usesPageable(int device) const noexcept override {
    return has(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device);
  }

  int peerOf(int owner, unsigned ordinal) const noexcept override {
    CUdevice peer = 0;
    int canAccess = 0;
    return cuda_.cuDeviceGet(&peer, static_cast<int>(ordinal)) == CUDA_SUCCESS &&
                   cuda_.cuDeviceCanAccessPeer(&canAccess, peer, owner) == CUDA_SUCCESS && canAccess
               ? peer
               : -1;
  }

private:
  bool has(CUdevice_attribute attribute, int device) const noexcept {
    int isSupported = 0;
    return cuda_.cuDeviceGetAttribute(&isSupported, attribute, device) == CUDA_SUCCESS &&
           isSupported;
  }

  bool isWhole(uint64_t address, uint64_t sizeBytes) const noexcept {
    size_t bytes = 0;
    return ask(bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) && bytes == sizeBytes;
  }

  template <typename Value>
  bool ask(Value& value, CUpointer_attribute attribute, uint64_t address) const noexcept {
    return cuda_.cuPointerGetAttribute(&value, attribute, address) == CUDA_SUCCESS;
  }

  const device::cuda::Driver& cuda_;
};

} // namespace

Side currentCudaSide() noexcept {
  const device::cuda::Driver* driver = device::cuda::Driver::find();
  CUcontext context = nullptr;
  CUdevice device = 0;
  if (!driver || driver->cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context ||
      driver->cuCtxGetDevice(&device) != CUDA_SUCCESS)
    return {};
  if (const CUcontext primary = primaryContext(*driver, device); primary != context) {
    hasOthers = true;
    if (primary && greenContext(*driver, nullptr))
      context = primary;
  }
  static const auto* const vendor = new Nvidia(*driver); // as the driver, for good
  return {vendor, context, device};
}

} // namespace mneme::record::gpu
