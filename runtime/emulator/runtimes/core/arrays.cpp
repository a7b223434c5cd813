#include "runtime/emulator/runtimes/core/arrays.h"

#include "runtime/emulator/runtimes/core/handle_table.h"

namespace mneme::cpu_runtime {
namespace {

HandleTable<Array>& arrays() {
  static auto* table = new HandleTable<Array>;
  return *table;
}

bool isInside(size_t offset, size_t count, size_t size) {
  return offset <= size && count <= size - offset;
}

/// Resolves one side of a copy.
Status resolve(void*& handle, Pos& position, PitchedPtr& memory, const Extent& extent) {
  const auto array = findArray(handle);
  if (!array || !isInside(position.x, extent.width, array->extent.width) ||
      !isInside(position.y, extent.height, array->rows()) ||
      !isInside(position.z, extent.depth, array->slices()))
    return Status::InvalidValue;
  memory = {array->memory, array->rowBytes(), array->extent.width, array->rows()};
  position.x *= array->elementBytes();
  handle = nullptr;
  return Status::Success;
}

} // namespace

void* addArray(std::shared_ptr<Array> array) { return arrays().add(std::move(array)); }

std::shared_ptr<Array> findArray(void* handle) { return arrays().find(handle); }

bool removeArray(void* handle) { return arrays().remove(handle); }

Status resolveArrays(Memcpy3DParms& params) {
  // Where an array takes part, the width is in elements.
  const auto counted = findArray(params.srcArray ? params.srcArray : params.dstArray);
  const Extent extent = params.extent;
  if (params.srcArray)
    if (const Status bad = resolve(params.srcArray, params.srcPos, params.srcPtr, extent);
        bad != Status::Success)
      return bad;
  if (params.dstArray)
    if (const Status bad = resolve(params.dstArray, params.dstPos, params.dstPtr, extent);
        bad != Status::Success)
      return bad;
  if (counted)
    params.extent.width *= counted->elementBytes();
  return Status::Success;
}

} // namespace mneme::cpu_runtime
