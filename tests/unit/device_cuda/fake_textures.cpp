// Textures, surfaces and arrays of the driver without a GPU: objects are numbered, the smallest
// free number first. A new array's bytes are numbers from 1 on.
#include <numeric>

#include "fake_driver.h"

using namespace fake;

namespace {

struct Array {
  CUDA_ARRAY3D_DESCRIPTOR shape;
  std::vector<char> bytes; ///< of elements of four bytes
};

std::map<unsigned long long, CUDA_RESOURCE_DESC>& objects() {
  static auto* all = new std::map<unsigned long long, CUDA_RESOURCE_DESC>;
  return *all;
}

CUresult number(unsigned long long* object, const CUDA_RESOURCE_DESC& made) {
  for (*object = 1; !objects().emplace(*object, made).second;)
    ++*object;
  return CUDA_SUCCESS;
}

CUresult release(unsigned long long object) {
  return objects().erase(object) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult ask(CUDA_RESOURCE_DESC* resource, unsigned long long object) {
  const auto found = objects().find(object);
  if (found == objects().end())
    return CUDA_ERROR_INVALID_VALUE;
  return *resource = found->second, CUDA_SUCCESS;
}

char* placeOf(const CUcopySide& side) {
  return side.array ? reinterpret_cast<Array*>(side.array)->bytes.data()
                    : static_cast<char*>(pointerTo(side.device));
}

} // namespace

FAKE(cuTexObjectCreate, CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
     const CUDA_TEXTURE_DESC*, const CUDA_RESOURCE_VIEW_DESC* view) {
  GUARD("cuTexObjectCreate");
  if (view && view->width == 0)
    return CUDA_ERROR_INVALID_VALUE;
  return number(object, *resource);
}
FAKE(cuTexObjectDestroy, CUtexObject object) { return release(object); }
FAKE(cuTexObjectGetResourceDesc, CUDA_RESOURCE_DESC* resource, CUtexObject object) {
  return ask(resource, object);
}
FAKE(cuTexObjectGetTextureDesc, CUDA_TEXTURE_DESC* texture, CUtexObject) {
  return *texture = {}, CUDA_SUCCESS;
}
FAKE(cuTexObjectGetResourceViewDesc, CUDA_RESOURCE_VIEW_DESC* view, CUtexObject) {
  return *view = {}, CUDA_SUCCESS; // as of an object that was made without one
}
FAKE(cuSurfObjectCreate, CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return number(object, *resource);
}
FAKE(cuSurfObjectDestroy, CUsurfObject object) { return release(object); }
FAKE(cuSurfObjectGetResourceDesc, CUDA_RESOURCE_DESC* resource, CUsurfObject object) {
  return ask(resource, object);
}
FAKE(cuArray3DCreate_v2, CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* shape) {
  const auto count = [](size_t size) { return size ? size : 1; };
  auto* const made = new Array{
      *shape, std::vector<char>(4 * shape->Width * count(shape->Height) * count(shape->Depth))};
  std::iota(made->bytes.begin(), made->bytes.end(), 1);
  return *array = reinterpret_cast<CUarray>(made), verdict("cuArray3DCreate");
}
FAKE(cuArray3DGetDescriptor_v2, CUDA_ARRAY3D_DESCRIPTOR* shape, CUarray array) {
  return *shape = reinterpret_cast<Array*>(array)->shape, CUDA_SUCCESS;
}
FAKE(cuArrayDestroy, CUarray array) { return delete reinterpret_cast<Array*>(array), CUDA_SUCCESS; }
FAKE(cuMipmappedArrayCreate, CUmipmappedArray*, const CUDA_ARRAY3D_DESCRIPTOR*, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE(cuMipmappedArrayGetLevel, CUarray*, CUmipmappedArray, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE(cuMemcpy3DAsync_v2, const CUDA_MEMCPY3D* copy, CUstream) {
  const size_t bytes = copy->WidthInBytes * copy->Height * copy->Depth;
  return enqueue([to = placeOf(copy->dst), from = placeOf(copy->src), bytes] {
    return memcpy(to, from, bytes), CUDA_SUCCESS;
  });
}
