// Room recorder: texture and surface objects of the CUDA driver. The runtime makes its own by these
// functions.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"
#include "runtime/recorder/texture_calls.h"

using namespace mneme::record;

namespace {

/// The begin of CUDA_RESOURCE_DESC.
struct Resource {
  int type; ///< 0 and 1: an array
  const void* array;
};

const void* arrayIn(const Resource* resource) noexcept {
  return resource && (resource->type == 0 || resource->type == 1) ? resource->array : nullptr;
}

} // namespace

MNEME_RECORD_API int cuTexObjectCreate(uint64_t* object, const Resource* resource,
                                       const void* texture, const void* view) {
  return watchTexture(object, false, {arrayIn(resource), texture, view}, [&] {
    return forward<cuTexObjectCreate>("cuTexObjectCreate", object, resource, texture, view);
  });
}

MNEME_RECORD_API int cuTexObjectDestroy(uint64_t object) {
  return watchTextureEnd(object, false,
                         [&] { return forward<cuTexObjectDestroy>("cuTexObjectDestroy", object); });
}

MNEME_RECORD_API int cuSurfObjectCreate(uint64_t* object, const Resource* resource) {
  return watchTexture(object, true, {arrayIn(resource)}, [&] {
    return forward<cuSurfObjectCreate>("cuSurfObjectCreate", object, resource);
  });
}

MNEME_RECORD_API int cuSurfObjectDestroy(uint64_t object) {
  return watchTextureEnd(
      object, true, [&] { return forward<cuSurfObjectDestroy>("cuSurfObjectDestroy", object); });
}

MNEME_RECORD_API int cuMipmappedArrayGetLevel(void** level, void* array, unsigned number) {
  return watchArrayPart(level, array, number, [&] {
    return forward<cuMipmappedArrayGetLevel>("cuMipmappedArrayGetLevel", level, array, number);
  });
}

MNEME_RECORD_API int cuArrayGetPlane(void** plane, void* array, unsigned number) {
  return watchArrayPart(plane, array, std::nullopt, [&] {
    return forward<cuArrayGetPlane>("cuArrayGetPlane", plane, array, number);
  });
}

MNEME_RECORD_API int cuArrayDestroy(void* array) {
  return watchArrayEnd(array, [&] { return forward<cuArrayDestroy>("cuArrayDestroy", array); });
}

MNEME_RECORD_API int cuMipmappedArrayDestroy(void* array) {
  return watchArrayEnd(
      array, [&] { return forward<cuMipmappedArrayDestroy>("cuMipmappedArrayDestroy", array); });
}
