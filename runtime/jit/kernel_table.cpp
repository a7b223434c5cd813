#include "runtime/jit/kernel_table.h"

#include <algorithm>

namespace mneme::jit {

KernelTable::KernelTable() { slots_ = &addSlots(256); }

KernelTable::Slots& KernelTable::addSlots(size_t size) {
  auto slots = std::make_unique<Slots>();
  slots->mask = size - 1;
  slots->entries = std::vector<std::atomic<Entry*>>(size);
  for (const auto& entry : entries_)
    put(*slots, entry.get());
  allSlots_.push_back(std::move(slots));
  return *allSlots_.back();
}

void KernelTable::put(Slots& slots, Entry* entry) {
  size_t i = startOf(entry->handle, slots.mask);
  while (slots.entries[i].load(std::memory_order_relaxed))
    i = (i + 1) & slots.mask;
  slots.entries[i].store(entry, std::memory_order_release);
}

void KernelTable::insert(const void* handle, const mneme_module_entry* module, Kernel* kernel) {
  const std::lock_guard lock(mutex_);
  const auto known =
      std::ranges::find_if(entries_, [&](const auto& entry) { return entry->handle == handle; });
  if (known != entries_.end()) {
    (*known)->module = module;
    (*known)->kernel.store(kernel, std::memory_order_release);
    return;
  }
  auto entry = std::make_unique<Entry>(handle, kernel, module);
  const bool isFull = (entries_.size() + 1) * 2 > slots_.load()->mask + 1;
  entries_.push_back(std::move(entry));
  if (isFull)
    slots_.store(&addSlots((slots_.load()->mask + 1) * 2), std::memory_order_release);
  else
    put(*slots_.load(), entries_.back().get());
}

void KernelTable::forget(const mneme_module_entry* module) {
  const std::lock_guard lock(mutex_);
  for (const auto& entry : entries_)
    if (!entry->module || entry->module == module)
      entry->kernel.store(nullptr, std::memory_order_release);
}

} // namespace mneme::jit
