#include "runtime/emulator/executor/cpu_module.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/core/base/error.h"

namespace mneme::device::cpu {

namespace {

const GlobalPlacement* findPlacement(std::span<const GlobalPlacement> placements,
                                     const mneme_cpu_global& global) {
  const auto found = std::find_if(placements.begin(), placements.end(),
                                  [&](const auto& each) { return each.name == global.name; });
  return found == placements.end() ? nullptr : &*found;
}

void checkPlacement(const AddressSpace& space, const GlobalPlacement& placement,
                    const mneme_cpu_global& global) {
  const std::string name = "device global '" + placement.name + "'";
  if (placement.sizeBytes != 0 && placement.sizeBytes < global.sizeBytes)
    throw Error(ErrorCode::AddressUnavailable,
                name + " has " + std::to_string(global.sizeBytes) + " bytes in this image, but " +
                    std::to_string(placement.sizeBytes) + " bytes were recorded for it");
  if (global.alignBytes > 1 && placement.address % global.alignBytes != 0)
    throw Error(ErrorCode::AddressUnavailable,
                name + " cannot be placed at an address that is not a multiple of " +
                    std::to_string(global.alignBytes));
  if (!space.isAccessible(placement.address, global.sizeBytes))
    throw Error(ErrorCode::AddressUnavailable,
                name + " cannot be placed: no memory is mapped at its address");
}

} // namespace

void CpuModule::Storage::operator()(void* pointer) const noexcept { free(pointer); }

CpuModule::CpuModule(const AddressSpace& space, std::span<const std::byte> image,
                     std::span<const GlobalPlacement> placements)
    : image_(Image::load(image)) {
  const mneme_cpu_image_header& header = image_->header();
  std::vector<bool> isFresh(header.globalCount, false);
  for (uint32_t i = 0; i < header.globalCount; ++i) {
    const mneme_cpu_global& global = header.globals[i];
    void* address = nullptr;
    if (const GlobalPlacement* placement = findPlacement(placements, global)) {
      checkPlacement(space, *placement, global);
      address = reinterpret_cast<void*>(placement->address);
    } else if (global.isDefined) {
      address = allocate(global);
      isFresh[i] = true;
    } else {
      throw Error(ErrorCode::AddressUnavailable,
                  "kernel '" + std::string(header.kernelName) + "' needs device global '" +
                      global.name + "', which another module defines; give its address");
    }
    image_->bindGlobal(i, address);
    addresses_.push_back(reinterpret_cast<uint64_t>(address));
  }
  image_->initialiseGlobals(isFresh);
}

void* CpuModule::allocate(const mneme_cpu_global& global) {
  const uint64_t align = std::max<uint64_t>(global.alignBytes, 256);
  const uint64_t size = (std::max<uint64_t>(global.sizeBytes, 1) + align - 1) / align * align;
  storage_.emplace_back(aligned_alloc(align, size));
  if (!storage_.back())
    throw Error(ErrorCode::OutOfMemory, "there is no memory for device global '" +
                                            std::string(global.name) + "' of " +
                                            std::to_string(global.sizeBytes) + " bytes");
  return storage_.back().get();
}

std::vector<ModuleGlobal> CpuModule::globals() const {
  const mneme_cpu_image_header& header = image_->header();
  std::vector<ModuleGlobal> result;
  for (uint32_t i = 0; i < header.globalCount; ++i) {
    const mneme_cpu_global& global = header.globals[i];
    result.push_back({global.name, addresses_[i], global.sizeBytes, global.isConstant != 0});
  }
  return result;
}

KernelAttributes CpuModule::attributes() const {
  const mneme_cpu_image_header& header = image_->header();
  KernelAttributes result;
  result.staticSharedBytes = header.staticSharedBytes;
  result.localBytes = header.localBytes;
  result.isWorkItemLoop = (header.flags & MNEME_CPU_IMAGE_LOOP) != 0;
  for (uint32_t i = 0; i < header.globalCount; ++i)
    result.constantBytes += header.globals[i].isConstant ? header.globals[i].sizeBytes : 0;
  return result;
}

std::optional<std::vector<uint64_t>> CpuModule::argumentSizes() const {
  const mneme_cpu_image_header& header = image_->header();
  return std::vector<uint64_t>(header.argSizes, header.argSizes + header.argCount);
}

} // namespace mneme::device::cpu
