#include "runtime/recorder/backends/cuda/cuda_texture_access.h"

#include "runtime/core/base/error.h"
#include "runtime/devices/cuda/application.h"
#include "runtime/devices/cuda/arrays.h"
#include "runtime/devices/cuda/cuda_textures.h"
#include "runtime/recorder/backends/cuda/cuda_gpu.h"

namespace mneme::record {
namespace {

using namespace device::cuda;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Unsupported, why); }

/// A stream of ours, which waits for no other.
class OwnStream {
public:
  explicit OwnStream(const Driver& driver) : driver_(driver) {
    check(driver_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "making a stream");
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() { driver_.cuStreamDestroy(stream_); }
  CUstream get() const noexcept { return stream_; }
  void wait() const { check(driver_.cuStreamSynchronize(stream_), "copying an array"); }

private:
  const Driver& driver_;
  CUstream stream_ = nullptr;
};

ArrayHandle arrayOf(const TextureAccess::Found& found) {
  auto* const array = const_cast<void*>(found.array);
  return found.object.source == TextureSource::Mipmapped
             ? ArrayHandle{.mipmapped = static_cast<CUmipmappedArray>(array)}
             : ArrayHandle{.plain = static_cast<CUarray>(array)};
}

class CudaTextureAccess final : public TextureAccess {
public:
  explicit CudaTextureAccess(const Driver& driver) : driver_(driver) {}

  std::optional<WorkPlace> place() const noexcept override {
    const gpu::Side side = gpu::currentCudaSide();
    CUdevice numbered = -1;
    if (!side.vendor)
      return std::nullopt;
    const bool isOwn = side.context != primaryContext(driver_, side.device);
    for (int ordinal = 0; driver_.cuDeviceGet(&numbered, ordinal) == CUDA_SUCCESS; ++ordinal)
      if (numbered == side.device)
        return WorkPlace(static_cast<unsigned>(ordinal), isOwn ? side.context : nullptr);
    return std::nullopt;
  }

  std::optional<TextureSampler> samplerOf(const void* description) const noexcept override {
    return description ? std::optional(device::cuda::samplerOf(
                             *static_cast<const CUDA_TEXTURE_DESC*>(description)))
                       : std::nullopt;
  }
  std::optional<TextureView> viewOf(const void* description) const noexcept override {
    return description ? std::optional(device::cuda::viewOf(
                             *static_cast<const CUDA_RESOURCE_VIEW_DESC*>(description)))
                       : std::nullopt;
  }

  Found describe(const LiveTextures::Object& wanted) const override {
    Found found;
    found.object.handle = wanted.handle;
    found.object.isSurface = wanted.isSurface;
    found.object.sampler = wanted.sampler;
    found.object.view = wanted.view;
    CUDA_RESOURCE_DESC resource;
    check(wanted.isSurface ? driver_.cuSurfObjectGetResourceDesc(&resource, wanted.handle)
                           : driver_.cuTexObjectGetResourceDesc(&resource, wanted.handle),
          "asking what a texture shows");
    found.object.source = static_cast<TextureSource>(resource.resType);
    readResource(resource, found);
    if (wanted.part.level) {
      found.object.source = TextureSource::Mipmapped;
      found.object.level = wanted.part.level;
      found.array = wanted.part.whole;
    }
    if (found.object.isArray())
      readArray(found);
    return found;
  }

  void* allocate(uint64_t sizeBytes) const noexcept override {
    CUdeviceptr memory = 0;
    return driver_.cuMemAlloc(&memory, sizeBytes) == CUDA_SUCCESS ? reinterpret_cast<void*>(memory)
                                                                  : nullptr;
  }
  void free(void* memory) const noexcept override {
    driver_.cuMemFree(reinterpret_cast<CUdeviceptr>(memory));
  }

  void fetch(const Found& found, uint64_t memory) const override {
    const OwnStream stream(driver_);
    queueCopies(driver_, arrayOf(found), found.object.array, memory, ArrayCopy::ToMemory,
                stream.get());
    stream.wait();
  }

private:
  static void readResource(const CUDA_RESOURCE_DESC& resource, Found& found) {
    TextureObject& object = found.object;
    switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      found.array = resource.res.array.hArray;
      return;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      found.array = resource.res.mipmap.hMipmappedArray;
      return;
    case CU_RESOURCE_TYPE_LINEAR:
      object.memory = resource.res.linear.devPtr;
      object.memoryBytes = resource.res.linear.sizeInBytes;
      object.array.format = resource.res.linear.format;
      object.array.channels = resource.res.linear.numChannels;
      return;
    case CU_RESOURCE_TYPE_PITCH2D:
      object.memory = resource.res.pitch2D.devPtr;
      object.pitchBytes = resource.res.pitch2D.pitchInBytes;
      object.array.width = resource.res.pitch2D.width;
      object.array.height = resource.res.pitch2D.height;
      object.array.format = resource.res.pitch2D.format;
      object.array.channels = resource.res.pitch2D.numChannels;
      if (object.array.height > 0) // the last row may end where its elements do
        object.memoryBytes =
            object.pitchBytes * (object.array.height - 1) +
            object.array.width * elementBytes(object.array.format, object.array.channels);
      return;
    }
    refuse("it shows something of an unknown kind");
  }

  void readArray(Found& found) const {
    const auto shape = shapeOf(driver_, arrayOf(found));
    if (!shape)
      refuse("the driver does not describe its array");
    if (shape->flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))
      refuse("its array is sparse");
    found.object.array = *shape;
    found.object.memoryBytes = bytesOf(partsOf(*shape));
    if (found.object.memoryBytes == 0)
      refuse("its array has elements of format " + std::to_string(shape->format) +
             ", which cannot be copied one by one");
  }

  const Driver& driver_;
};

} // namespace

const TextureAccess* cudaTextures() noexcept {
  const Driver* driver = Driver::find();
  if (!driver || !driver->cuTexObjectGetResourceDesc || !driver->cuSurfObjectGetResourceDesc ||
      !driver->cuArray3DGetDescriptor || !driver->cuMipmappedArrayGetLevel ||
      !driver->cuMemcpy3DAsync)
    return nullptr;
  static const auto* const access = new CudaTextureAccess(*driver); // as the driver, for good
  return access;
}

} // namespace mneme::record
