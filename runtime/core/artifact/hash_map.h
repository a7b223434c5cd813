// Room core/artifact (internal): a map from content hashes, for hundreds of thousands of them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "runtime/core/base/hash.h"

namespace mneme::artifact {

/// Open addressing with linear probing: one allocation, no node per entry, pages touched on use.
/// Pointers to values are valid until the next insertion or removal. Not thread-safe.
template <typename Value> class HashMap {
  static_assert(std::is_trivially_copyable_v<Value>);

public:
  size_t size() const noexcept { return size_; }

  /// Makes room for `count` entries in all. \throws std::bad_alloc
  void reserve(size_t count) {
    if (count > limit())
      rehash(count);
  }

  const Value* find(const Hash128& hash) const noexcept {
    if (size_ == 0)
      return nullptr;
    const Slot& slot = slots_[place(keyOf(hash))];
    return isEmpty(slot) ? nullptr : &slot.value;
  }
  Value* find(const Hash128& hash) noexcept {
    return const_cast<Value*>(std::as_const(*this).find(hash));
  }
  bool contains(const Hash128& hash) const noexcept { return find(hash) != nullptr; }

  /// Makes the processor prefetch what find(hash) will read.
  void prefetch(const Hash128& hash) const noexcept {
    if (capacity_ != 0)
      __builtin_prefetch(&slots_[start(keyOf(hash))]);
  }

  /// Returns the entry, which is made with `value` if there was none, and whether it was made.
  /// \throws std::bad_alloc
  std::pair<Value*, bool> tryEmplace(const Hash128& hash, const Value& value) {
    reserve(size_ + 1);
    const Hash128 key = keyOf(hash);
    Slot& slot = slots_[place(key)];
    if (!isEmpty(slot))
      return {&slot.value, false};
    slot = {key, value};
    ++size_;
    return {&slot.value, true};
  }

  void erase(const Hash128& hash) noexcept {
    if (size_ == 0)
      return;
    size_t hole = place(keyOf(hash));
    if (isEmpty(slots_[hole]))
      return;
    --size_;
    // Later entries that may use the free slot move into it, so that no search stops too early.
    for (size_t next = after(hole); !isEmpty(slots_[next]); next = after(next)) {
      const size_t home = start(slots_[next].key);
      if (((next - home) & (capacity_ - 1)) >= ((next - hole) & (capacity_ - 1))) {
        slots_[hole] = slots_[next];
        hole = next;
      }
    }
    slots_[hole].key = {};
  }

  /// Calls visit(hash, value) for every entry.
  template <typename Visit> void forEach(const Visit& visit) const {
    for (size_t index = 0; index < capacity_; ++index)
      if (!isEmpty(slots_[index]))
        visit(slots_[index].key, slots_[index].value);
  }

private:
  struct Slot {
    Hash128 key;
    Value value;
  };
  struct Free {
    void operator()(Slot* slots) const noexcept { std::free(slots); }
  };

  /// A key of zero marks a free slot; content with that hash uses the next key instead.
  static Hash128 keyOf(const Hash128& hash) noexcept {
    return hash == Hash128{} ? Hash128{1, 0} : hash;
  }
  static bool isEmpty(const Slot& slot) noexcept { return slot.key == Hash128{}; }
  size_t limit() const noexcept { return capacity_ / 8 * 5; }
  size_t start(const Hash128& key) const noexcept { return key.low & (capacity_ - 1); }
  size_t after(size_t index) const noexcept { return (index + 1) & (capacity_ - 1); }
  size_t place(const Hash128& key) const noexcept {
    size_t index = start(key);
    while (!isEmpty(slots_[index]) && slots_[index].key != key)
      index = after(index);
    return index;
  }
  void rehash(size_t count) {
    size_t capacity = 64;
    while (capacity / 8 * 5 < count)
      capacity *= 2;
    // With calloc, the pages of a large table are zero without being touched.
    std::unique_ptr<Slot[], Free> slots(static_cast<Slot*>(std::calloc(capacity, sizeof(Slot))));
    if (!slots)
      throw std::bad_alloc();
    const auto old = std::exchange(slots_, std::move(slots));
    const size_t oldCapacity = std::exchange(capacity_, capacity);
    for (size_t index = 0; index < oldCapacity; ++index)
      if (!isEmpty(old[index]))
        slots_[place(old[index].key)] = old[index];
  }

  std::unique_ptr<Slot[], Free> slots_;
  size_t capacity_ = 0; ///< a power of two, or 0
  size_t size_ = 0;
};

} // namespace mneme::artifact
