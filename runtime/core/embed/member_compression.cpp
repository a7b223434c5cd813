#include "runtime/core/embed/member_compression.h"

#include <zstd.h>

namespace mneme::embed {
namespace {

// Above any device image; a header that asks for more is damaged.
constexpr uint64_t kMaxRawBytes = uint64_t{4} << 30;
// LZ4 cannot do better than 255, Zstandard on device images stays far below.
constexpr uint64_t kMaxRatio = 4096;

[[noreturn]] void corrupt() {
  throw Error(ErrorCode::ArtifactCorrupt,
              "the fat binary is damaged: a compressed member does not expand");
}

std::vector<std::byte> allocate(Bytes compressed, uint64_t rawBytes) {
  if (rawBytes > kMaxRawBytes || rawBytes / kMaxRatio > compressed.size())
    corrupt();
  return std::vector<std::byte>(rawBytes);
}

/// Reads and writes one LZ4 block with every access checked.
class Lz4Block {
public:
  Lz4Block(Bytes in, std::span<std::byte> out) : in_(in), out_(out) {}

  /// Returns the number of bytes written.
  size_t expand() {
    while (read_ < in_.size()) {
      unsigned token = next();
      copyLiterals(length(token >> 4));
      if (read_ == in_.size())
        break; // the last sequence has no match
      size_t distance = next();
      distance |= size_t{next()} << 8;
      constexpr size_t kShortestMatch = 4;
      copyMatch(distance, length(token & 15) + kShortestMatch);
    }
    return written_;
  }

private:
  unsigned next() {
    if (read_ == in_.size())
      corrupt();
    return std::to_integer<unsigned>(in_[read_++]);
  }

  size_t length(size_t length) {
    constexpr size_t kContinued = 15;
    if (length == kContinued)
      for (unsigned more = 255; more == 255; length += more)
        more = next();
    return length;
  }

  void copyLiterals(size_t count) {
    if (count > in_.size() - read_ || count > out_.size() - written_)
      corrupt();
    if (count > 0)
      std::memcpy(out_.data() + written_, in_.data() + read_, count);
    read_ += count;
    written_ += count;
  }

  void copyMatch(size_t distance, size_t count) {
    if (distance == 0 || distance > written_ || count > out_.size() - written_)
      corrupt();
    for (; count > 0; --count, ++written_) // byte by byte: source and target may overlap
      out_[written_] = out_[written_ - distance];
  }

  Bytes in_;
  std::span<std::byte> out_;
  size_t read_ = 0;
  size_t written_ = 0;
};

} // namespace

std::vector<std::byte> expandZstd(Bytes frame, uint64_t rawBytes) {
  std::vector<std::byte> raw = allocate(frame, rawBytes);
  if (ZSTD_decompress(raw.data(), raw.size(), frame.data(), frame.size()) != rawBytes)
    corrupt();
  return raw;
}

std::vector<std::byte> expandLz4(Bytes block, uint64_t rawBytes) {
  std::vector<std::byte> raw = allocate(block, rawBytes);
  if (Lz4Block(block, raw).expand() != rawBytes)
    corrupt();
  return raw;
}

} // namespace mneme::embed
