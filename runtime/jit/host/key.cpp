#include "runtime/jit/host/key.h"

namespace mneme::jit {

bool Key::grow(size_t needed) noexcept {
  const size_t capacity = needed * 2;
  std::unique_ptr<std::byte[]> grown(new (std::nothrow) std::byte[capacity]);
  if (!grown)
    return false;
  __builtin_memcpy(grown.get(), data(), size_);
  many_ = std::move(grown);
  capacity_ = capacity;
  return true;
}

} // namespace mneme::jit
