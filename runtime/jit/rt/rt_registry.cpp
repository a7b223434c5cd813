// Which instrumented translation units the process holds. Memory comes from malloc; when there is
// none, a unit stays unknown and its launches go straight to the vendor.
#include <pthread.h>
#include <stdlib.h>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/jit/rt/rt_launch.h"

namespace {

struct Slot {
  const void* handle; ///< null: free
  const char* name;
  const mneme_module_entry* module;
};

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

// All below is guarded by `lock`.
const mneme_module_entry** modules = nullptr;
size_t moduleCount = 0;
size_t moduleCapacity = 0;
Slot* slots = nullptr; ///< open addressing; the size is a power of two, at most half is used
size_t slotCount = 0;

size_t slotOf(const void* handle, size_t mask) {
  uint64_t value = reinterpret_cast<uintptr_t>(handle);
  return static_cast<size_t>((value * 0x9E3779B97F4A7C15ull) >> 32) & mask;
}

/// The first unit that registered a handle keeps it: a template's stub is one function in the
/// program, whatever number of units lists it.
void insert(Slot* table, size_t mask, const Slot& entry) {
  size_t index = slotOf(entry.handle, mask);
  while (table[index].handle && table[index].handle != entry.handle)
    index = (index + 1) & mask;
  if (!table[index].handle)
    table[index] = entry;
}

size_t wantedSlots() {
  size_t kernels = 0;
  for (size_t index = 0; index < moduleCount; ++index)
    kernels += modules[index]->kernelCount;
  size_t size = 64;
  while (size < kernels * 2)
    size *= 2;
  return size;
}

void rebuild() {
  size_t size = wantedSlots();
  auto* table = static_cast<Slot*>(calloc(size, sizeof(Slot)));
  if (!table)
    return;
  for (size_t index = 0; index < moduleCount; ++index)
    for (uint64_t kernel = 0; kernel < modules[index]->kernelCount; ++kernel)
      if (const mneme_kernel_entry& entry = modules[index]->kernels[kernel]; entry.handle)
        insert(table, size - 1, {entry.handle, entry.name, modules[index]});
  free(slots);
  slots = table;
  slotCount = size;
}

/// Removing a unit must not leave its addresses behind, even without memory for a new table.
void forgetSlots() {
  free(slots);
  slots = nullptr;
  slotCount = 0;
  if (moduleCount > 0)
    rebuild();
}

void addToTable(const mneme_module_entry* module) {
  if (wantedSlots() != slotCount) {
    rebuild();
    return;
  }
  for (uint64_t kernel = 0; kernel < module->kernelCount; ++kernel)
    if (const mneme_kernel_entry& entry = module->kernels[kernel]; entry.handle)
      insert(slots, slotCount - 1, {entry.handle, entry.name, module});
}

bool reserveModule() {
  if (moduleCount < moduleCapacity)
    return true;
  size_t capacity = moduleCapacity ? moduleCapacity * 2 : 16;
  auto* grown = static_cast<const mneme_module_entry**>(
      realloc(modules, capacity * sizeof(const mneme_module_entry*)));
  if (!grown)
    return false;
  modules = grown;
  moduleCapacity = capacity;
  return true;
}

bool removeModule(const mneme_module_entry* module) {
  for (size_t index = 0; index < moduleCount; ++index)
    if (modules[index] == module) {
      for (size_t next = index + 1; next < moduleCount; ++next)
        modules[next - 1] = modules[next];
      --moduleCount;
      return true;
    }
  return false;
}

} // namespace

void mneme_rt_register_module(const mneme_module_entry* module) {
  if (!module || module->version != MNEME_RT_ABI)
    return;
  pthread_rwlock_wrlock(&lock);
  if (reserveModule()) {
    modules[moduleCount++] = module;
    addToTable(module);
  }
  pthread_rwlock_unlock(&lock);
  mneme::rt::warnIfRecordingUntuned();
  mneme::rt::prepareToTellOfNoGpu();
}

void mneme_rt_unregister_module(const mneme_module_entry* module) {
  pthread_rwlock_wrlock(&lock);
  bool wasKnown = removeModule(module);
  if (wasKnown)
    forgetSlots();
  pthread_rwlock_unlock(&lock);
  const mneme_hooks* hooks = mneme::rt::hooks();
  if (wasKnown && hooks && hooks->module_unregistered)
    hooks->module_unregistered(hooks->user, module);
}

int mneme_rt_find_kernel(const void* handle, const mneme_module_entry** module, const char** name) {
  if (!handle)
    return 0;
  int found = 0;
  pthread_rwlock_rdlock(&lock);
  for (size_t index = slotCount ? slotOf(handle, slotCount - 1) : 0;
       slotCount && slots[index].handle; index = (index + 1) & (slotCount - 1))
    if (slots[index].handle == handle) {
      if (module)
        *module = slots[index].module;
      if (name)
        *name = slots[index].name;
      found = 1;
      break;
    }
  pthread_rwlock_unlock(&lock);
  return found;
}

void mneme_rt_visit_modules(void (*visit)(void* user, const mneme_module_entry* module),
                            void* user) {
  pthread_rwlock_rdlock(&lock);
  for (size_t index = 0; index < moduleCount; ++index)
    visit(user, modules[index]);
  pthread_rwlock_unlock(&lock);
}
