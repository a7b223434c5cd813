// Room core/base: length-prefixed fields in one buffer, for cache entries and for messages to and
// from the compiler process. Needs no LLVM.
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

/// Appends fields, such that different lists of fields give different bytes.
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

/// Reads the fields of a buffer. isGood() is false after the first field that does not fit.
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
  /// Returns 0 if there is none.
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
  /// Reads the number of fields that follow, each of at least 8 bytes. Returns 0 if the rest is too
  /// short for them.
  uint64_t takeCount() {
    const uint64_t count = takeNumber();
    if (count <= rest_.size() / sizeof count)
      return count;
    isGood_ = false;
    return 0;
  }
  /// Whether every field was there, and nothing else.
  bool isGood() const { return isGood_ && rest_.empty(); }

private:
  std::span<const std::byte> rest_;
  bool isGood_ = true;
};

} // namespace mneme
