// Memory pools.
#include "runtime/emulator/runtimes/core/memory_pool.h"

#include <cstddef>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/handle_table.h"
#include "runtime/emulator/runtimes/core/heap.h"
#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/core/types.h"

namespace mneme::cpu_runtime {
namespace {

enum Attribute : int {
  kReuseFirst = 1,
  kReuseLast = 3,
  kReleaseThreshold = 4,
  kReservedCurrent = 5,
  kUsedHigh = 8
};

HandleTable<MemoryPool>& pools() {
  static auto* table = new HandleTable<MemoryPool>;
  return *table;
}

void* defaultPool() {
  static void* pool = pools().add(std::make_shared<MemoryPool>());
  return pool;
}

std::atomic<void*>& chosenPool() {
  static std::atomic<void*> pool{defaultPool()};
  return pool;
}

Status setAttribute(MemoryPool& pool, int attribute, const void* value) {
  if (!value)
    return Status::InvalidValue;
  if (attribute >= kReuseFirst && attribute <= kReuseLast)
    pool.reuse[attribute - kReuseFirst] = *static_cast<const int*>(value);
  else if (attribute == kReleaseThreshold)
    pool.releaseThresholdBytes = *static_cast<const uint64_t*>(value);
  else if (attribute < kReservedCurrent || attribute > kUsedHigh)
    return Status::InvalidValue; // the high-water marks may be reset; they follow the heap here
  return Status::Success;
}

Status getAttribute(MemoryPool& pool, int attribute, void* value) {
  if (!value)
    return Status::InvalidValue;
  if (attribute >= kReuseFirst && attribute <= kReuseLast)
    *static_cast<int*>(value) = pool.reuse[attribute - kReuseFirst];
  else if (attribute == kReleaseThreshold)
    *static_cast<uint64_t*>(value) = pool.releaseThresholdBytes;
  else if (attribute >= kReservedCurrent && attribute <= kUsedHigh)
    *static_cast<uint64_t*>(value) = Heap::instance().usedBytes(&pool);
  else
    return Status::InvalidValue;
  return Status::Success;
}

Status choose(void* pool) {
  if (!MemoryPool::isValid(pool))
    return Status::InvalidValue;
  chosenPool() = pool;
  return Status::Success;
}

Status tell(void** out, void* pool, int device) {
  if (!out)
    return Status::InvalidValue;
  if (device != 0)
    return Status::InvalidDevice;
  *out = pool;
  return Status::Success;
}

} // namespace

void* MemoryPool::current() { return chosenPool(); }

bool MemoryPool::isValid(void* handle) {
  defaultPool();
  return pools().find(handle) != nullptr;
}

} // namespace mneme::cpu_runtime

using namespace mneme::cpu_runtime;

MNEME_RUNTIME_API Status gpuDeviceGetDefaultMemPool(void** pool, int device) {
  return api([&] { return tell(pool, defaultPool(), device); });
}

MNEME_RUNTIME_API Status gpuDeviceGetMemPool(void** pool, int device) {
  return api([&] { return tell(pool, chosenPool(), device); });
}

MNEME_RUNTIME_API Status gpuDeviceSetMemPool(int device, void* pool) {
  return api([&] { return device == 0 ? choose(pool) : Status::InvalidDevice; });
}

MNEME_RUNTIME_API Status gpuMemGetDefaultMemPool(void** pool, MemLocation*, int) {
  return api([&] { return tell(pool, defaultPool(), 0); });
}

MNEME_RUNTIME_API Status gpuMemGetMemPool(void** pool, MemLocation*, int) {
  return api([&] { return tell(pool, chosenPool(), 0); });
}

MNEME_RUNTIME_API Status gpuMemSetMemPool(MemLocation*, int, void* pool) {
  return api([&] { return choose(pool); });
}

MNEME_RUNTIME_API Status gpuMemPoolCreate(void** pool, const void* properties) {
  return api([&] {
    if (!pool || !properties)
      return Status::InvalidValue;
    *pool = pools().add(std::make_shared<MemoryPool>());
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuMemPoolDestroy(void* pool) {
  return api([&] {
    if (pool == defaultPool() || !pools().remove(pool))
      return Status::InvalidValue;
    void* expected = pool;
    chosenPool().compare_exchange_strong(expected, defaultPool());
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuMemPoolTrimTo(void* pool, size_t) {
  return api([&] { return MemoryPool::isValid(pool) ? Status::Success : Status::InvalidValue; });
}

MNEME_RUNTIME_API Status gpuMemPoolSetAttribute(void* handle, int attribute, void* value) {
  return api([&] {
    const auto pool = pools().find(handle);
    return pool ? setAttribute(*pool, attribute, value) : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuMemPoolGetAttribute(void* handle, int attribute, void* value) {
  return api([&] {
    const auto pool = pools().find(handle);
    return pool ? getAttribute(*pool, attribute, value) : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuMemPoolSetAccess(void* pool, const MemAccessDesc*, size_t) {
  return api([&] { return MemoryPool::isValid(pool) ? Status::Success : Status::InvalidValue; });
}

MNEME_RUNTIME_API Status gpuMemPoolGetAccess(int* flags, void* pool, MemLocation*) {
  return api([&] {
    if (!flags || !MemoryPool::isValid(pool))
      return Status::InvalidValue;
    *flags = 3; // read and write
    return Status::Success;
  });
}
