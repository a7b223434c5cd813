// Textures, surfaces and arrays of the driver without a GPU: objects are numbered, the smallest
// free number first. A new array's bytes are numbers from 1 on. A question about an array
// that was destroyed ends the process, as it may with a driver.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include "fake_driver.h"

using namespace fake;

namespace {

struct Array {
  CUDA_ARRAY3D_DESCRIPTOR shape;
  std::vector<char> bytes; ///< of elements of four bytes
};

std::set<Array*>& arrays() {
  static auto* all = new std::set<Array*>;
  return *all;
}

Array* newArray(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  const auto count = [](size_t size) { return size ? size : 1; };
  auto* const made = new Array{
      shape, std::vector<char>(4 * shape.Width * count(shape.Height) * count(shape.Depth))};
  std::iota(made->bytes.begin(), made->bytes.end(), 1);
  return *arrays().insert(made).first;
}

Array& alive(CUarray array) {
  const auto found = arrays().find(reinterpret_cast<Array*>(array));
  if (found == arrays().end())
    std::abort();
  return **found;
}

void destroy(Array* array) {
  arrays().erase(array);
  delete array;
}

using Levels = std::vector<Array*>;

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
  return side.array ? alive(side.array).bytes.data() : static_cast<char*>(pointerTo(side.device));
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
FAKE(cuSurfObjectCreate, CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return number(object, *resource);
}
FAKE(cuSurfObjectDestroy, CUsurfObject object) { return release(object); }
FAKE(cuSurfObjectGetResourceDesc, CUDA_RESOURCE_DESC* resource, CUsurfObject object) {
  return ask(resource, object);
}
FAKE(cuArray3DCreate_v2, CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* shape) {
  return *array = reinterpret_cast<CUarray>(newArray(*shape)), verdict("cuArray3DCreate");
}
FAKE(cuArray3DGetDescriptor_v2, CUDA_ARRAY3D_DESCRIPTOR* shape, CUarray array) {
  return *shape = alive(array).shape, CUDA_SUCCESS;
}
FAKE(cuArrayDestroy, CUarray array) { return destroy(&alive(array)), CUDA_SUCCESS; }
FAKE(cuMipmappedArrayCreate, CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* shape,
     unsigned count) {
  auto* const levels = new Levels;
  CUDA_ARRAY3D_DESCRIPTOR level = *shape;
  for (unsigned number = 0; number < count; ++number) {
    levels->push_back(newArray(level));
    for (size_t* size : {&level.Width, &level.Height, &level.Depth})
      *size = *size ? std::max<size_t>(*size / 2, 1) : 0;
  }
  return *array = reinterpret_cast<CUmipmappedArray>(levels), CUDA_SUCCESS;
}
FAKE(cuMipmappedArrayGetLevel, CUarray* level, CUmipmappedArray array, unsigned number) {
  const Levels& levels = *reinterpret_cast<Levels*>(array);
  if (number >= levels.size())
    return CUDA_ERROR_INVALID_VALUE;
  return *level = reinterpret_cast<CUarray>(levels[number]), CUDA_SUCCESS;
}
FAKE(cuMipmappedArrayDestroy, CUmipmappedArray array) {
  auto* const levels = reinterpret_cast<Levels*>(array);
  std::ranges::for_each(*levels, destroy);
  return delete levels, CUDA_SUCCESS;
}
FAKE(cuMemcpy3DAsync_v2, const CUDA_MEMCPY3D* copy, CUstream) {
  const size_t bytes = copy->WidthInBytes * copy->Height * copy->Depth;
  return enqueue([to = placeOf(copy->dst), from = placeOf(copy->src), bytes] {
    return memcpy(to, from, bytes), CUDA_SUCCESS;
  });
}
