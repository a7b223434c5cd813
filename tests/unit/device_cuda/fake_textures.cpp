// Textures, surfaces and arrays of the driver without a GPU: objects are numbered, the smallest
// free number first.
#include <set>

#include "fake_driver.h"

using namespace fake;

namespace {

struct Array {
  CUDA_ARRAY3D_DESCRIPTOR shape;
  std::vector<char> bytes; ///< of elements of four bytes
};

std::set<unsigned long long>& taken() {
  static auto* numbers = new std::set<unsigned long long>{0};
  return *numbers;
}

CUresult number(unsigned long long* object) {
  for (*object = 1; !taken().insert(*object).second;)
    ++*object;
  return CUDA_SUCCESS;
}

CUresult release(unsigned long long object) {
  return taken().erase(object) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

char* placeOf(const CUcopySide& side) {
  return side.array ? reinterpret_cast<Array*>(side.array)->bytes.data()
                    : static_cast<char*>(pointerTo(side.device));
}

} // namespace

FAKE(cuTexObjectCreate, CUtexObject* object, const CUDA_RESOURCE_DESC*, const CUDA_TEXTURE_DESC*,
     const CUDA_RESOURCE_VIEW_DESC*) {
  GUARD("cuTexObjectCreate");
  return number(object);
}
FAKE(cuTexObjectDestroy, CUtexObject object) { return release(object); }
FAKE(cuSurfObjectCreate, CUsurfObject* object, const CUDA_RESOURCE_DESC*) { return number(object); }
FAKE(cuSurfObjectDestroy, CUsurfObject object) { return release(object); }
FAKE(cuArray3DCreate_v2, CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* shape) {
  const auto count = [](size_t size) { return size ? size : 1; };
  auto* const made = new Array{
      *shape, std::vector<char>(4 * shape->Width * count(shape->Height) * count(shape->Depth))};
  return *array = reinterpret_cast<CUarray>(made), verdict("cuArray3DCreate");
}
FAKE(cuArrayDestroy, CUarray array) { return delete reinterpret_cast<Array*>(array), CUDA_SUCCESS; }
FAKE(cuMipmappedArrayCreate, CUmipmappedArray*, const CUDA_ARRAY3D_DESCRIPTOR*, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE(cuMemcpy3DAsync_v2, const CUDA_MEMCPY3D* copy, CUstream) {
  const size_t bytes = copy->WidthInBytes * copy->Height * copy->Depth;
  return enqueue([to = placeOf(copy->dst), from = placeOf(copy->src), bytes] {
    return memcpy(to, from, bytes), CUDA_SUCCESS;
  });
}
