// Room core/artifact (internal): little-endian serialisation with bounds checks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace mneme::artifact {

static_assert(std::endian::native == std::endian::little, "file formats are little endian");

/// Appends values to a growing buffer.
class ByteWriter {
public:
  template <typename Value> void put(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    const auto* raw = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), raw, raw + sizeof(Value));
  }
  /// Appends a number as 7 bits per byte, lowest first.
  void putVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_.push_back(static_cast<std::byte>(value | 0x80));
    bytes_.push_back(static_cast<std::byte>(value));
  }
  void putString(const std::string& text) {
    put(static_cast<uint32_t>(text.size()));
    const auto* raw = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), raw, raw + text.size());
  }
  void putBytes(std::span<const std::byte> bytes) {
    put(static_cast<uint64_t>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte>& bytes() noexcept { return bytes_; }

private:
  std::vector<std::byte> bytes_;
};

/// Reads values from a buffer it does not own. A read past the end sets the failed state and
/// returns zero; callers check isGood() before they trust the values.
class ByteReader {
public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Value> Value get() {
    static_assert(std::is_trivially_copyable_v<Value>);
    Value value{};
    if (const auto raw = take(sizeof(Value)); !raw.empty())
      std::memcpy(&value, raw.data(), sizeof(Value));
    return value;
  }
  uint64_t getVarint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && isGood_ && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<uint64_t>(bytes_.front());
      bytes_ = bytes_.subspan(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
    isGood_ = false;
    return 0;
  }
  std::string getString() {
    const auto raw = take(get<uint32_t>());
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  std::vector<std::byte> getBytes() {
    const auto raw = take(get<uint64_t>());
    return {raw.begin(), raw.end()};
  }
  uint64_t remaining() const noexcept { return bytes_.size(); }
  bool isGood() const noexcept { return isGood_; }

private:
  std::span<const std::byte> take(uint64_t count) {
    if (!isGood_ || count > bytes_.size()) {
      isGood_ = false;
      return {};
    }
    const auto taken = bytes_.first(static_cast<size_t>(count));
    bytes_ = bytes_.subspan(static_cast<size_t>(count));
    return taken;
  }
  std::span<const std::byte> bytes_;
  bool isGood_ = true;
};

} // namespace mneme::artifact
