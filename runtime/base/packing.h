// Room base: length-prefixed fields in one buffer, for cache entries and for what goes to and
// from the compiler process. Holds no LLVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace mneme {

template <typename T> std::span<const std::byte> bytesOf(const T& content) {
  return std::as_bytes(std::span(content.data(), content.size()));
}

/// Fields one after the other, so that no two lists of fields give the same bytes.
class Packer {
public:
  void add(std::span<const std::byte> bytes) {
    add(uint64_t{bytes.size()});
    packed_.insert(packed_.end(), bytes.begin(), bytes.end());
  }
  void add(uint64_t number) {
    const auto* begin = reinterpret_cast<const std::byte*>(&number);
    packed_.insert(packed_.end(), begin, begin + sizeof number);
  }
  const std::vector<std::byte>& packed() const { return packed_; }

private:
  std::vector<std::byte> packed_;
};

/// Takes the fields off a buffer; isGood() turns false at the first that does not fit.
class Unpacker {
public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

  /// Strings and vectors of bytes.
  template <typename T> void take(T& out) {
    const uint64_t size = takeNumber();
    if (size > rest_.size()) {
      isGood_ = false;
      return;
    }
    out.resize(size);
    if (size != 0)
      memcpy(out.data(), rest_.data(), size);
    rest_ = rest_.subspan(size);
  }
  /// 0 when there is none.
  uint64_t takeNumber() {
    uint64_t number = 0;
    if (!isGood_ || rest_.size() < sizeof number) {
      isGood_ = false;
      return 0;
    }
    memcpy(&number, rest_.data(), sizeof number);
    rest_ = rest_.subspan(sizeof number);
    return number;
  }
  /// A number of fields that follow, each of at least 8 bytes; 0 when there cannot be so many.
  uint64_t takeCount() {
    const uint64_t count = takeNumber();
    if (count <= rest_.size() / sizeof count)
      return count;
    isGood_ = false;
    return 0;
  }
  /// Every field was there, and nothing else.
  bool isGood() const { return isGood_ && rest_.empty(); }

private:
  std::span<const std::byte> rest_;
  bool isGood_ = true;
};

} // namespace mneme
