// Room core/base: ownership of one raw resource.
#pragma once

#include <utility>

namespace mneme {

/// Owns one resource described by `Traits`: `using Raw`, `static Raw none()`, and
/// `static void release(Raw) noexcept`. Move-only; the destructor never throws.
template <typename Traits> class UniqueHandle {
public:
  using Raw = typename Traits::Raw;
  UniqueHandle() = default;
  explicit UniqueHandle(Raw raw) noexcept : raw_(raw) {}
  UniqueHandle(UniqueHandle&& other) noexcept : raw_(std::exchange(other.raw_, Traits::none())) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() {
    if (raw_ != Traits::none())
      Traits::release(raw_);
  }
  Raw get() const noexcept { return raw_; }
  explicit operator bool() const noexcept { return raw_ != Traits::none(); }

private:
  Raw raw_ = Traits::none();
};

} // namespace mneme
