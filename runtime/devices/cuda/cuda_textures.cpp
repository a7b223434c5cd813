#include "runtime/devices/cuda/cuda_textures.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/devices/cuda/arrays.h"

namespace mneme::device::cuda {
namespace {

/// Objects that are made at most to get one with the recorded handle. The driver numbers them.
constexpr int kMostTries = 4096;

/// An array of ours.
struct OwnArray {
  ArrayHandle handle;
  ArrayShape shape;
  CUdeviceptr memory = 0; ///< with its content
  bool isWritable = false;
};

/// An object of ours.
struct OwnObject {
  unsigned long long handle = 0;
  bool isSurface = false;
};

class CudaTextures final : public TextureObjects {
public:
  CudaTextures(Context& context, std::span<const TextureObject> wanted)
      : context_(context), driver_(context.driver()) {
    const ContextScope scope = context_.use();
    try {
      makeArrays(wanted);
      makeObjects(wanted);
    } catch (...) {
      destroyAll();
      throw;
    }
  }
  CudaTextures(const CudaTextures&) = delete;
  CudaTextures& operator=(const CudaTextures&) = delete;
  ~CudaTextures() override {
    context_.whenFreeing([this] {
      driver_.cuStreamSynchronize(context_.stream());
      destroyAll();
    });
  }

  const std::vector<uint64_t>& handles() const noexcept override { return handles_; }

  void load(bool isOther) override {
    const ContextScope scope = context_.use();
    for (const OwnArray& array : arrays_)
      if (array.isWritable || isOther || !isLoaded_)
        queueCopies(driver_, array.handle, array.shape, array.memory, ArrayCopy::ToArray,
                    context_.stream());
    isLoaded_ = true;
  }

  void store() override {
    const ContextScope scope = context_.use();
    for (const OwnArray& array : arrays_)
      if (array.isWritable)
        queueCopies(driver_, array.handle, array.shape, array.memory, ArrayCopy::ToMemory,
                    context_.stream());
    context_.check(driver_.cuStreamSynchronize(context_.stream()), "copying arrays");
  }

private:
  void makeArrays(std::span<const TextureObject> wanted);
  void makeObjects(std::span<const TextureObject> wanted);
  CUDA_RESOURCE_DESC resourceOf(const TextureObject& wanted) const;
  OwnObject make(const TextureObject& wanted) const;
  OwnObject makeWithHandle(const TextureObject& wanted, std::vector<OwnObject>& spare) const;
  void destroy(const OwnObject& object) const noexcept;
  void destroyAll() noexcept;

  Context& context_;
  const Driver& driver_;
  std::vector<OwnArray> arrays_;
  std::vector<OwnObject> objects_;
  std::vector<uint64_t> handles_;
  bool isLoaded_ = false;
};

void CudaTextures::makeArrays(std::span<const TextureObject> wanted) {
  for (const TextureObject& one : wanted) {
    if (!one.isArray())
      continue;
    const auto known = std::ranges::find(arrays_, one.memory, &OwnArray::memory);
    if (known != arrays_.end()) {
      known->isWritable |= one.isSurface;
      continue;
    }
    OwnArray array{
        .handle = {}, .shape = one.array, .memory = one.memory, .isWritable = one.isSurface};
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = descriptorOf(one.array);
    context_.check(one.array.levels == 0
                       ? driver_.cuArray3DCreate(&array.handle.plain, &descriptor)
                       : driver_.cuMipmappedArrayCreate(&array.handle.mipmapped, &descriptor,
                                                        one.array.levels),
                   "making an array");
    arrays_.push_back(array);
  }
}

CUDA_RESOURCE_DESC CudaTextures::resourceOf(const TextureObject& wanted) const {
  CUDA_RESOURCE_DESC resource;
  resource.resType = static_cast<CUresourcetype>(wanted.source);
  if (wanted.isArray()) {
    const auto array = std::ranges::find(arrays_, wanted.memory, &OwnArray::memory);
    if (wanted.level) {
      resource.resType = CU_RESOURCE_TYPE_ARRAY;
      context_.check(driver_.cuMipmappedArrayGetLevel(&resource.res.array.hArray,
                                                      array->handle.mipmapped, *wanted.level),
                     "asking for a level of an array");
    } else if (array->handle.mipmapped)
      resource.res.mipmap.hMipmappedArray = array->handle.mipmapped;
    else
      resource.res.array.hArray = array->handle.plain;
  } else if (wanted.source == TextureSource::Linear) {
    resource.res.linear.devPtr = wanted.memory;
    resource.res.linear.format = wanted.array.format;
    resource.res.linear.numChannels = wanted.array.channels;
    resource.res.linear.sizeInBytes = wanted.memoryBytes;
  } else {
    resource.res.pitch2D.devPtr = wanted.memory;
    resource.res.pitch2D.format = wanted.array.format;
    resource.res.pitch2D.numChannels = wanted.array.channels;
    resource.res.pitch2D.width = wanted.array.width;
    resource.res.pitch2D.height = wanted.array.height;
    resource.res.pitch2D.pitchInBytes = wanted.pitchBytes;
  }
  return resource;
}

OwnObject CudaTextures::make(const TextureObject& wanted) const {
  OwnObject made{.isSurface = wanted.isSurface};
  const CUDA_RESOURCE_DESC resource = resourceOf(wanted);
  if (wanted.isSurface) {
    context_.check(driver_.cuSurfObjectCreate(&made.handle, &resource), "making a surface object");
    return made;
  }
  const CUDA_TEXTURE_DESC texture = descriptorOf(wanted.sampler.value_or(TextureSampler{}));
  const CUDA_RESOURCE_VIEW_DESC view = descriptorOf(wanted.view.value_or(TextureView{}));
  context_.check(
      driver_.cuTexObjectCreate(&made.handle, &resource, &texture, wanted.view ? &view : nullptr),
      "making a texture object");
  return made;
}

/// Code may have handles as constants, and memory may hold some, so the recorded one is best.
OwnObject CudaTextures::makeWithHandle(const TextureObject& wanted,
                                       std::vector<OwnObject>& spare) const {
  const auto taken = std::ranges::find(spare, wanted.handle, &OwnObject::handle);
  if (taken != spare.end()) {
    destroy(*taken);
    spare.erase(taken);
  }
  const auto first = static_cast<std::ptrdiff_t>(spare.size());
  for (int tries = 0; tries < kMostTries; ++tries) {
    const OwnObject made = make(wanted);
    if (made.handle == wanted.handle)
      return made;
    spare.push_back(made);
  }
  const OwnObject other = spare[static_cast<size_t>(first)];
  spare.erase(spare.begin() + first);
  log(LogLevel::Info, "the driver does not grant the recorded handle of a texture or surface");
  return other;
}

void CudaTextures::makeObjects(std::span<const TextureObject> wanted) {
  std::vector<size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t index) { return wanted[index].handle; });
  handles_.resize(wanted.size());
  std::vector<OwnObject> spare;
  try {
    for (const size_t index : order) {
      objects_.push_back(makeWithHandle(wanted[index], spare));
      handles_[index] = objects_.back().handle;
    }
  } catch (...) {
    std::ranges::move(spare, std::back_inserter(objects_));
    throw;
  }
  for (const OwnObject& object : spare)
    destroy(object);
}

void CudaTextures::destroy(const OwnObject& object) const noexcept {
  if (object.isSurface)
    driver_.cuSurfObjectDestroy(object.handle);
  else
    driver_.cuTexObjectDestroy(object.handle);
}

void CudaTextures::destroyAll() noexcept {
  for (const OwnObject& object : objects_)
    destroy(object);
  for (const OwnArray& array : arrays_) {
    if (array.handle.mipmapped)
      driver_.cuMipmappedArrayDestroy(array.handle.mipmapped);
    if (array.handle.plain)
      driver_.cuArrayDestroy(array.handle.plain);
  }
  objects_.clear();
  arrays_.clear();
}

} // namespace

std::unique_ptr<TextureObjects> makeTextures(Context& context,
                                             std::span<const TextureObject> wanted) {
  const Driver& driver = context.driver();
  if (!driver.cuTexObjectCreate || !driver.cuSurfObjectCreate || !driver.cuArray3DCreate ||
      !driver.cuMipmappedArrayCreate || !driver.cuMipmappedArrayGetLevel || !driver.cuMemcpy3DAsync)
    return nullptr;
  return std::make_unique<CudaTextures>(context, wanted);
}

CUDA_TEXTURE_DESC descriptorOf(const TextureSampler& sampler) {
  CUDA_TEXTURE_DESC descriptor;
  std::ranges::copy(sampler.address, descriptor.addressMode);
  descriptor.filterMode = sampler.filter;
  descriptor.flags = sampler.flags;
  descriptor.maxAnisotropy = sampler.maxAnisotropy;
  descriptor.mipmapFilterMode = sampler.mipmapFilter;
  descriptor.mipmapLevelBias = sampler.mipmapBias;
  descriptor.minMipmapLevelClamp = sampler.leastLevel;
  descriptor.maxMipmapLevelClamp = sampler.greatestLevel;
  std::ranges::copy(sampler.border, descriptor.borderColor);
  return descriptor;
}

TextureSampler samplerOf(const CUDA_TEXTURE_DESC& descriptor) {
  TextureSampler sampler{.filter = descriptor.filterMode,
                         .flags = descriptor.flags,
                         .maxAnisotropy = descriptor.maxAnisotropy,
                         .mipmapFilter = descriptor.mipmapFilterMode,
                         .mipmapBias = descriptor.mipmapLevelBias,
                         .leastLevel = descriptor.minMipmapLevelClamp,
                         .greatestLevel = descriptor.maxMipmapLevelClamp};
  std::ranges::copy(descriptor.addressMode, sampler.address.begin());
  std::ranges::copy(descriptor.borderColor, sampler.border.begin());
  return sampler;
}

CUDA_RESOURCE_VIEW_DESC descriptorOf(const TextureView& view) {
  CUDA_RESOURCE_VIEW_DESC descriptor;
  descriptor.format = view.format;
  descriptor.width = view.width;
  descriptor.height = view.height;
  descriptor.depth = view.depth;
  descriptor.firstMipmapLevel = view.firstLevel;
  descriptor.lastMipmapLevel = view.lastLevel;
  descriptor.firstLayer = view.firstLayer;
  descriptor.lastLayer = view.lastLayer;
  return descriptor;
}

TextureView viewOf(const CUDA_RESOURCE_VIEW_DESC& descriptor) {
  return {.format = descriptor.format,
          .width = descriptor.width,
          .height = descriptor.height,
          .depth = descriptor.depth,
          .firstLevel = descriptor.firstMipmapLevel,
          .lastLevel = descriptor.lastMipmapLevel,
          .firstLayer = descriptor.firstLayer,
          .lastLayer = descriptor.lastLayer};
}

} // namespace mneme::device::cuda
