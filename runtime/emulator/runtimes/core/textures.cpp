// Texture and surface objects: descriptions in device memory
// (abi/cpu_texture.h), whose addresses the program hands to its kernels.
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "runtime/core/abi/cpu_texture.h"
#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/core/arrays.h"
#include "runtime/emulator/runtimes/core/device_memory.h"
#include "runtime/emulator/runtimes/core/exported.h"

using namespace mneme::cpu_runtime;

namespace {

enum ResourceType : int { kArray = 0, kMipmapped = 1, kLinear = 2, kPitched = 3 };

/// What all versions of all vendors have of it.
struct ResourceDesc {
  ResourceType type;
  union {
    void* array;
    struct {
      void* base;
      ChannelFormatDesc format;
      size_t bytes;
    } linear;
    struct {
      void* base;
      ChannelFormatDesc format;
      size_t width, height, pitch;
    } pitched;
  };
};

struct TextureDesc {
  int address[3];
  int filter;
  int readMode;
  int isSrgb;
  float border[4];
  int isNormalized;
  unsigned maxAnisotropy;
  int mipmapFilter;
  float mipmapBias, mipmapMin, mipmapMax;
};

struct Object {
  ResourceDesc resource;
  TextureDesc texture;
};

class Objects {
public:
  static Objects& instance() {
    static auto* objects = new Objects;
    return *objects;
  }
  void add(uint64_t handle, const Object& object) {
    const std::lock_guard lock(mutex_);
    objects_[handle] = object;
  }
  bool find(uint64_t handle, Object& object) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    if (found != objects_.end())
      object = found->second;
    return found != objects_.end();
  }
  bool remove(uint64_t handle) {
    const std::lock_guard lock(mutex_);
    return objects_.erase(handle) != 0;
  }

private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, Object> objects_;
};

Status unsupported(const char* what) {
  mneme::noticeOnce(std::string(what) + " are not supported on the CPU device");
  return Status::NotSupported;
}

void setFormat(const ChannelFormatDesc& format, mneme_cpu_texture& texture) {
  texture.channelBits = static_cast<uint32_t>(format.x);
  texture.channels =
      static_cast<uint32_t>((format.x != 0) + (format.y != 0) + (format.z != 0) + (format.w != 0));
  texture.kind = static_cast<uint32_t>(format.kind);
}

bool isKnown(const mneme_cpu_texture& texture) {
  const bool hasBits = texture.channelBits == 32 || texture.channelBits == 16 ||
                       (texture.channelBits == 8 && texture.kind != MNEME_TEXTURE_FLOAT);
  return texture.base && texture.width > 0 && hasBits && texture.channels > 0 &&
         texture.kind <= MNEME_TEXTURE_FLOAT;
}

Status describe(const ResourceDesc& resource, mneme_cpu_texture& texture) {
  texture.magic = MNEME_CPU_TEXTURE_MAGIC;
  texture.height = texture.depth = 1;
  if (resource.type == kArray) {
    const auto array = findArray(resource.array);
    if (!array)
      return Status::InvalidValue;
    setFormat(array->format, texture);
    texture.base = array->memory;
    texture.width = static_cast<uint32_t>(array->extent.width);
    texture.height = static_cast<uint32_t>(array->rows());
    texture.depth = static_cast<uint32_t>(array->slices());
    texture.pitchBytes = array->rowBytes();
    texture.sliceBytes = array->sliceBytes();
  } else if (resource.type == kLinear) {
    setFormat(resource.linear.format, texture);
    texture.base = static_cast<char*>(resource.linear.base);
    if (const uint32_t bytes = texture.channels * texture.channelBits / 8)
      texture.width = static_cast<uint32_t>(resource.linear.bytes / bytes);
  } else if (resource.type == kPitched) {
    setFormat(resource.pitched.format, texture);
    texture.base = static_cast<char*>(resource.pitched.base);
    texture.width = static_cast<uint32_t>(resource.pitched.width);
    texture.height = static_cast<uint32_t>(resource.pitched.height);
    texture.pitchBytes = resource.pitched.pitch;
    texture.sliceBytes = resource.pitched.pitch * resource.pitched.height;
  } else {
    return unsupported("mipmapped arrays");
  }
  return isKnown(texture) ? Status::Success : Status::InvalidValue;
}

Status describe(const TextureDesc& wanted, mneme_cpu_texture& texture) {
  if (wanted.isSrgb)
    return unsupported("sRGB textures");
  for (int axis = 0; axis < 3; ++axis) {
    if (wanted.address[axis] < 0 || wanted.address[axis] > MNEME_TEXTURE_BORDER)
      return Status::InvalidValue;
    texture.address[axis] = static_cast<uint32_t>(wanted.address[axis]);
  }
  texture.isLinear = wanted.filter == 1;
  texture.isFraction = wanted.readMode == 1 && texture.kind != MNEME_TEXTURE_FLOAT;
  texture.isNormal = wanted.isNormalized != 0;
  std::memcpy(texture.border, wanted.border, sizeof(texture.border));
  const bool isNumber = texture.kind != MNEME_TEXTURE_FLOAT && !texture.isFraction;
  return (texture.isLinear && isNumber) || (texture.isFraction && texture.channelBits == 32)
             ? Status::InvalidValue
             : Status::Success;
}

Status place(const mneme_cpu_texture& texture, const Object& object, uint64_t* handle) {
  void* memory = nullptr;
  if (const Status bad = takeDeviceMemory(&memory, sizeof(texture)); bad != Status::Success)
    return bad;
  std::memcpy(memory, &texture, sizeof(texture));
  *handle = reinterpret_cast<uint64_t>(memory);
  Objects::instance().add(*handle, object);
  return Status::Success;
}

Status destroy(uint64_t handle) {
  if (handle == 0)
    return Status::Success;
  if (!Objects::instance().remove(handle))
    return Status::InvalidValue;
  giveDeviceMemory(reinterpret_cast<void*>(handle));
  return Status::Success;
}

template <typename Part, typename Choose> Status get(Part* out, uint64_t handle, Choose choose) {
  return api([&] {
    Object object;
    if (!out || !Objects::instance().find(handle, object))
      return Status::InvalidValue;
    *out = choose(object);
    return Status::Success;
  });
}

} // namespace

MNEME_RUNTIME_API Status gpuCreateTextureObject(uint64_t* handle, const ResourceDesc* resource,
                                                const TextureDesc* texture, const void* view) {
  return api([&] {
    if (!handle || !resource || !texture)
      return Status::InvalidValue;
    if (view)
      return unsupported("views of textures");
    mneme_cpu_texture made{};
    Status status = describe(*resource, made);
    if (status == Status::Success)
      status = describe(*texture, made);
    return status == Status::Success ? place(made, {*resource, *texture}, handle) : status;
  });
}

MNEME_RUNTIME_API Status gpuDestroyTextureObject(uint64_t handle) {
  return api([&] { return destroy(handle); });
}

MNEME_RUNTIME_API Status gpuGetTextureObjectResourceDesc(ResourceDesc* resource, uint64_t handle) {
  return get(resource, handle, [](const Object& object) { return object.resource; });
}

MNEME_RUNTIME_API Status gpuGetTextureObjectTextureDesc(TextureDesc* texture, uint64_t handle) {
  return get(texture, handle, [](const Object& object) { return object.texture; });
}

MNEME_RUNTIME_API Status gpuCreateSurfaceObject(uint64_t* handle, const ResourceDesc* resource) {
  return api([&] {
    if (!handle || !resource || resource->type != kArray)
      return Status::InvalidValue;
    mneme_cpu_texture made{};
    const Status status = describe(*resource, made);
    for (uint32_t& address : made.address) // what is read outside is zero
      address = MNEME_TEXTURE_BORDER;
    return status == Status::Success ? place(made, {*resource, {}}, handle) : status;
  });
}

MNEME_RUNTIME_API Status gpuDestroySurfaceObject(uint64_t handle) {
  return api([&] { return destroy(handle); });
}

MNEME_RUNTIME_API Status gpuGetSurfaceObjectResourceDesc(ResourceDesc* resource, uint64_t handle) {
  return get(resource, handle, [](const Object& object) { return object.resource; });
}
