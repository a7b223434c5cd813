#include "tests/unit/conformance/support.h"

#include "runtime/compiler/service/client.h"
#include "tests/unit/conformance/amd_kernels.h"
#include "tests/unit/conformance/kernels.h"

namespace conformance {

namespace {

std::unique_ptr<Device>& storedDevice() {
  static std::unique_ptr<Device> device;
  return device;
}

std::vector<std::byte> imageFor(Device& device, const std::string& name,
                                const std::vector<mneme::device::GlobalPlacement>& placements) {
  mneme::compile::Request request;
  const std::string kernels = isForAmd(device) ? amdKernels() : kKernels;
  const auto text = std::as_bytes(std::span(kernels));
  request.modules.emplace_back(text.begin(), text.end());
  request.kernel = name;
  request.target = device.description().target;
  if (!device.placesGlobalsOnLoad())
    for (const mneme::device::GlobalPlacement& placement : placements)
      request.placedGlobals.push_back({placement.name, placement.address});
  return mneme::compile::compile(request).image;
}

} // namespace

bool isForAmd(const Device& device) { return device.description().target.starts_with("gfx"); }

Device& theDevice() { return *storedDevice(); }

std::string theDeviceName() { return theDevice().description().name; }

void setDevice(std::unique_ptr<Device> device) { storedDevice() = std::move(device); }

ErrorCode codeOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(std::string(error.what()).size() > 10);
    return error.code();
  }
  return ErrorCode::Ok;
}

Memory::Memory(uint64_t sizeBytes, uint64_t address, Device& device) : device_(device) {
  const uint64_t granule = device.granularity();
  sizeBytes_ = (sizeBytes + granule - 1) / granule * granule;
  address_ = device.reserve(address, sizeBytes_);
  device.map(address_, sizeBytes_);
}

Memory::~Memory() {
  device_.unmap(address_, sizeBytes_);
  device_.release(address_, sizeBytes_);
}

Kernel::Kernel(const std::string& name, std::vector<mneme::device::GlobalPlacement> placements,
               Device& device)
    : device_(device), module_(device.load(imageFor(device, name, placements), name, placements)) {}

mneme::device::LaunchShape shapeOf(uint32_t blocks, uint32_t threads, uint64_t sharedBytes) {
  mneme::device::LaunchShape shape;
  shape.grid[0] = blocks;
  shape.block[0] = threads;
  shape.dynamicSharedBytes = sharedBytes;
  return shape;
}

} // namespace conformance
