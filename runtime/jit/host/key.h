// Room jit: the values of a call of a marked function, as bytes to compare.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace mneme::jit {

/// A growing sequence of bytes. Short ones need no allocation.
class Key {
public:
  /// Returns false if there is no memory.
  bool add(const void* bytes, size_t count) noexcept {
    if (size_ + count > capacity_ && !grow(size_ + count))
      return false;
    __builtin_memcpy(data() + size_, bytes, count);
    size_ += count;
    return true;
  }
  std::span<const std::byte> bytes() const noexcept {
    return {many_ ? many_.get() : few_.data(), size_};
  }

private:
  std::byte* data() noexcept { return many_ ? many_.get() : few_.data(); }
  bool grow(size_t needed) noexcept;

  static constexpr size_t kFew = 512;
  std::array<std::byte, kFew> few_;
  std::unique_ptr<std::byte[]> many_;
  size_t size_ = 0;
  size_t capacity_ = kFew;
};

} // namespace mneme::jit
