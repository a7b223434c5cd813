// Room core/abi: texture and surface objects of GPUs, and the arrays behind them. The recorder
// describes them, recordings store the descriptions, and devices make objects from them. Numbers
// without a name here are those of the vendor's driver.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mneme {

/// An array, in whose layout in memory nobody but the GPU has a say.
struct ArrayShape {
  /// In elements; 0 where the array has no such dimension. The depth counts layers, if it has any.
  uint64_t width = 0, height = 0, depth = 0;
  uint32_t format = 0, channels = 0, flags = 0;
  uint32_t levels = 0; ///< of an array with mipmaps; 0: a plain one
  bool operator==(const ArrayShape&) const = default;

  /// So that each level has the same depth: of layers, or of the faces of a cube.
  bool isLayered() const noexcept { return flags & (1 | 4); }
};

/// Where an object's elements are.
enum class TextureSource : uint8_t { Array = 0, Mipmapped = 1, Linear = 2, Pitched = 3 };

/// How a texture is read. Floating-point numbers are given by their bits: those of a border may be
/// integers.
struct TextureSampler {
  std::array<uint32_t, 3> address = {}; ///< outside of the texture, by dimension
  uint32_t filter = 0;
  uint32_t flags = 0;
  uint32_t maxAnisotropy = 0;
  uint32_t mipmapFilter = 0;
  uint32_t mipmapBias = 0, leastLevel = 0, greatestLevel = 0;
  std::array<uint32_t, 4> border = {};
  bool operator==(const TextureSampler&) const = default;
};

/// The part of an array that a texture shows, and as what.
struct TextureView {
  uint32_t format = 0;
  uint64_t width = 0, height = 0, depth = 0;
  uint32_t firstLevel = 0, lastLevel = 0, firstLayer = 0, lastLayer = 0;
  bool operator==(const TextureView&) const = default;
};

/// A texture object, or a surface object.
struct TextureObject {
  uint64_t handle = 0; ///< what kernels are given
  bool isSurface = false;
  TextureSource source = TextureSource::Array;
  /// Linear, Pitched: the program's memory. Array, Mipmapped: memory that holds a copy of the
  /// array's elements as partsOf() says; objects of one array share it.
  uint64_t memory = 0;
  uint64_t memoryBytes = 0;
  ArrayShape array;                             ///< Linear, Pitched: size and format of the memory
  uint64_t pitchBytes = 0;                      ///< Pitched
  std::optional<uint32_t> level = std::nullopt; ///< Mipmapped: the only level that it shows
  std::optional<TextureSampler> sampler = std::nullopt; ///< of a texture
  std::optional<TextureView> view = std::nullopt;
  bool operator==(const TextureObject&) const = default;

  bool isArray() const noexcept {
    return source == TextureSource::Array || source == TextureSource::Mipmapped;
  }
};

/// One level of an array in memory: rows without gaps, one behind the other.
struct ArrayPart {
  uint64_t offset = 0;
  uint64_t rowBytes = 0;
  uint64_t rows = 0;
  uint64_t slices = 0;

  uint64_t sizeBytes() const noexcept { return rowBytes * rows * slices; }
};

/// Returns the size of an element; 0 for formats whose elements do not stand for themselves
/// (compressed, in several planes).
constexpr uint64_t elementBytes(uint32_t format, uint32_t channels) noexcept {
  switch (format) {
  case 0x01: // integers of 8 bits
  case 0x08:
    return channels;
  case 0x02: // of 16 bits, and halves
  case 0x09:
  case 0x10:
    return uint64_t{2} * channels;
  case 0x03: // of 32 bits, and floats
  case 0x0a:
  case 0x20:
    return uint64_t{4} * channels;
  case 0x50: // 10, 10, 10 and 2 bits
    return 4;
  default: // fractions of 8 and 16 bits, in 1, 2 and 4 channels
    if (format < 0xc0 || format > 0xcb)
      return 0;
    return (uint64_t{1} << format % 3) << (format - 0xc0) / 3 % 2;
  }
}

/// Returns the levels of an array in memory, each at a multiple of 512 bytes; nothing if the size
/// of its elements is unknown, or no memory is that large.
inline std::vector<ArrayPart> partsOf(const ArrayShape& shape) {
  constexpr uint64_t kMost = uint64_t{1} << 32, kMostBytes = uint64_t{1} << 44, kAlignment = 512;
  const uint64_t element = elementBytes(shape.format, shape.channels);
  if (element == 0 || shape.channels > 4 || shape.width == 0 || shape.width > kMost ||
      shape.height > kMost / 1024 || shape.depth > kMost / 1024 || shape.levels > 32)
    return {};
  std::vector<ArrayPart> parts;
  uint64_t offset = 0;
  for (uint32_t level = 0; level < std::max(shape.levels, 1u); ++level) {
    const auto at = [&](uint64_t size) { return std::max<uint64_t>(size >> level, 1); };
    const ArrayPart part{offset, at(shape.width) * element, at(shape.height),
                         shape.isLayered() ? std::max<uint64_t>(shape.depth, 1) : at(shape.depth)};
    if (part.rowBytes > kMostBytes / part.rows / part.slices)
      return {};
    parts.push_back(part);
    offset = (offset + part.sizeBytes() + kAlignment - 1) / kAlignment * kAlignment;
  }
  return parts;
}

/// Returns how much memory the levels take.
inline uint64_t bytesOf(const std::vector<ArrayPart>& parts) noexcept {
  return parts.empty() ? 0 : parts.back().offset + parts.back().sizeBytes();
}

} // namespace mneme
