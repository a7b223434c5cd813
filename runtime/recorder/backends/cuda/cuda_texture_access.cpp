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

/// CU_TR_ADDRESS_MODE_BORDER
constexpr unsigned kBorder = 3;

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

  std::optional<unsigned> device() const noexcept override {
    const gpu::Side side = gpu::currentCudaSide();
    CUdevice numbered = -1;
    if (side.vendor && side.context == primaryContext(driver_, side.device))
      for (int ordinal = 0; driver_.cuDeviceGet(&numbered, ordinal) == CUDA_SUCCESS; ++ordinal)
        if (numbered == side.device)
          return static_cast<unsigned>(ordinal);
    return std::nullopt;
  }

  Found describe(uint64_t handle, bool isSurface) const override {
    Found found;
    found.object.handle = handle;
    found.object.isSurface = isSurface;
    CUDA_RESOURCE_DESC resource;
    check(isSurface ? driver_.cuSurfObjectGetResourceDesc(&resource, handle)
                    : driver_.cuTexObjectGetResourceDesc(&resource, handle),
          "asking what a texture shows");
    found.object.source = static_cast<TextureSource>(resource.resType);
    readResource(resource, found);
    if (found.object.isArray())
      readArray(found);
    if (!isSurface)
      readSampler(found.object);
    return found;
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

  void readSampler(TextureObject& object) const {
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
    check(driver_.cuTexObjectGetTextureDesc(&texture, object.handle),
          "asking how a texture is read");
    object.sampler = samplerOf(texture);
    // Replays on a GPU found another colour there than the program had.
    if (std::ranges::find(texture.addressMode, kBorder) != std::end(texture.addressMode))
      refuse("its colour beyond the border is not recorded");
    // Where the program gave none, the driver refuses or tells of one without extent.
    if (driver_.cuTexObjectGetResourceViewDesc(&view, object.handle) == CUDA_SUCCESS &&
        view.width > 0)
      object.view = viewOf(view);
  }

  const Driver& driver_;
};

} // namespace

const TextureAccess* cudaTextures() noexcept {
  const Driver* driver = Driver::find();
  if (!driver || !driver->cuTexObjectGetResourceDesc || !driver->cuTexObjectGetTextureDesc ||
      !driver->cuTexObjectGetResourceViewDesc || !driver->cuSurfObjectGetResourceDesc ||
      !driver->cuArray3DGetDescriptor || !driver->cuMipmappedArrayGetLevel ||
      !driver->cuMemcpy3DAsync)
    return nullptr;
  static const auto* const access = new CudaTextureAccess(*driver); // as the driver, for good
  return access;
}

} // namespace mneme::record
