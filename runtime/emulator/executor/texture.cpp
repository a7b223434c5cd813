#include "runtime/emulator/executor/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace mneme::device::cpu {
namespace {

struct Texel {
  float number[4] = {};  ///< where numbers are floats
  uint32_t bits[4] = {}; ///< else
};

struct Axis {
  uint32_t size;
  uint32_t address;
};

float halfToFloat(uint16_t half) noexcept {
  const uint32_t sign = uint32_t{half} >> 15 << 31, exponent = half >> 10 & 31, part = half & 1023;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000u | part << 13);
  const float magnitude =
      exponent == 0 ? std::ldexp(static_cast<float>(part), -24)
                    : std::ldexp(static_cast<float>(part | 1024), static_cast<int>(exponent) - 25);
  return sign ? -magnitude : magnitude;
}

uint16_t floatToHalf(float value) noexcept {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  if (std::isnan(value))
    return static_cast<uint16_t>(sign | 0x7e00);
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520) // what is nearer to 65536 than to the largest half
    return static_cast<uint16_t>(sign | 0x7c00);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent, -13); // below 2^-14 all halves are as far apart
  const auto steps = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 11 - exponent)));
  // A part of 1024 and more adds one to the exponent; so does one that was rounded up to 2048.
  return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(exponent + 13) << 10) + steps));
}

/// Whether reads give floats.
bool isFloat(const mneme_cpu_texture& texture) noexcept {
  return texture.kind == MNEME_TEXTURE_FLOAT || texture.isFraction;
}

Texel readTexel(const mneme_cpu_texture& texture, uint64_t x, uint64_t y, uint64_t z) noexcept {
  Texel texel;
  const uint32_t bytes = texture.channelBits / 8;
  const char* from =
      texture.base + z * texture.sliceBytes + y * texture.pitchBytes + x * bytes * texture.channels;
  for (uint32_t channel = 0; channel < texture.channels; ++channel, from += bytes) {
    uint32_t raw = 0;
    std::memcpy(&raw, from, bytes); // little endian, as all that runs this
    const uint32_t unused = 32 - texture.channelBits;
    const auto extended = static_cast<int32_t>(raw << unused) >> unused;
    texel.bits[channel] =
        texture.kind == MNEME_TEXTURE_SIGNED ? static_cast<uint32_t>(extended) : raw;
    if (texture.kind == MNEME_TEXTURE_FLOAT)
      texel.number[channel] = texture.channelBits == 16 ? halfToFloat(static_cast<uint16_t>(raw))
                                                        : std::bit_cast<float>(raw);
    else if (texture.kind == MNEME_TEXTURE_SIGNED)
      texel.number[channel] =
          std::max(-1.0f, static_cast<float>(extended) /
                              static_cast<float>((1u << (texture.channelBits - 1)) - 1));
    else
      texel.number[channel] =
          static_cast<float>(raw) / static_cast<float>((uint64_t{1} << texture.channelBits) - 1);
  }
  return texel;
}

Texel borderOf(const mneme_cpu_texture& texture) noexcept {
  Texel texel;
  for (uint32_t channel = 0; channel < texture.channels; ++channel) {
    texel.number[channel] = texture.border[channel];
    texel.bits[channel] = std::bit_cast<uint32_t>(texture.border[channel]);
  }
  return texel;
}

/// The place of element `index`, which may be outside: of wrapped and mirrored ones, of one further
/// period at most. -1 where the border is.
int64_t placeOf(int64_t index, const Axis& axis) noexcept {
  const auto size = static_cast<int64_t>(axis.size);
  if (index >= 0 && index < size)
    return index;
  switch (axis.address) {
  case MNEME_TEXTURE_WRAP:
    return (index % size + size) % size;
  case MNEME_TEXTURE_MIRROR: {
    const int64_t period = (index % (2 * size) + 2 * size) % (2 * size);
    return period < size ? period : 2 * size - 1 - period;
  }
  case MNEME_TEXTURE_BORDER:
    return -1;
  default:
    return index < 0 ? 0 : size - 1;
  }
}

/// A coordinate in elements. NaN is 0, and nothing is so far out that it stops being a number.
float scaled(float coordinate, const Axis& axis, bool isNormal) noexcept {
  const float value = isNormal ? coordinate * static_cast<float>(axis.size) : coordinate;
  if (std::isnan(value))
    return 0;
  return std::clamp(value, -1e9f, 1e9f);
}

class Sampler {
public:
  Sampler(const mneme_cpu_texture& texture, uint32_t operation,
          const uint32_t* coordinates) noexcept
      : texture_(texture), dimensions_(operation & 3), axes_{{texture.width, texture.address[0]},
                                                             {texture.height, texture.address[1]},
                                                             {texture.depth, texture.address[2]}} {
    for (Axis& axis : axes_) // what wraps and mirrors has coordinates from 0 to 1
      if (!texture.isNormal && axis.address != MNEME_TEXTURE_BORDER)
        axis.address = MNEME_TEXTURE_CLAMP;
    const bool isLayered = (operation & MNEME_TEXTURE_LAYERED) != 0;
    for (uint32_t axis = 0; axis < dimensions_; ++axis)
      position_[axis] =
          (operation & MNEME_TEXTURE_NUMBERS)
              ? static_cast<float>(static_cast<int32_t>(coordinates[axis])) + 0.5f
              : scaled(std::bit_cast<float>(coordinates[axis]), axes_[axis], texture.isNormal != 0);
    if (isLayered)
      layer_ = std::clamp<int64_t>(static_cast<int32_t>(coordinates[2]), 0,
                                   static_cast<int64_t>(texture.depth) - 1);
  }

  Texel nearest() const noexcept {
    int64_t index[3] = {};
    for (uint32_t axis = 0; axis < dimensions_; ++axis)
      index[axis] = static_cast<int64_t>(std::floor(position_[axis]));
    return at(index);
  }

  /// The weights have eight bits behind the point, as on GPUs.
  Texel interpolated() const noexcept {
    int64_t first[3] = {};
    float part[3] = {};
    firstNeighbour(first, part);
    Texel sum;
    for (uint32_t corner = 0; corner < (1u << dimensions_); ++corner) {
      float weight = 1;
      int64_t index[3] = {};
      for (uint32_t axis = 0; axis < dimensions_; ++axis) {
        const bool isSecond = (corner >> axis & 1) != 0;
        weight *= isSecond ? part[axis] : 1 - part[axis];
        index[axis] = first[axis] + isSecond;
      }
      const Texel texel = at(index);
      for (int channel = 0; channel < 4; ++channel)
        if (weight != 0)
          sum.number[channel] += weight * texel.number[channel];
    }
    return sum;
  }

  /// In PTX's order: below left, below right, above right, above left.
  Texel gathered(uint32_t channel) const noexcept {
    constexpr int kOffsets[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    int64_t first[3] = {};
    float part[3] = {};
    firstNeighbour(first, part);
    Texel result;
    for (int neighbour = 0; neighbour < 4; ++neighbour) {
      const int64_t index[3] = {first[0] + kOffsets[neighbour][0],
                                first[1] + kOffsets[neighbour][1], 0};
      const Texel texel = at(index);
      result.number[neighbour] = texel.number[channel];
      result.bits[neighbour] = texel.bits[channel];
    }
    return result;
  }

private:
  void firstNeighbour(int64_t* first, float* part) const noexcept {
    for (uint32_t axis = 0; axis < dimensions_; ++axis) {
      const float fixed = std::nearbyint((position_[axis] - 0.5f) * 256) / 256;
      first[axis] = static_cast<int64_t>(std::floor(fixed));
      part[axis] = fixed - std::floor(fixed);
    }
  }

  Texel at(const int64_t* index) const noexcept {
    int64_t place[3] = {0, 0, layer_};
    for (uint32_t axis = 0; axis < dimensions_; ++axis)
      if ((place[axis] = placeOf(index[axis], axes_[axis])) < 0)
        return borderOf(texture_);
    return readTexel(texture_, static_cast<uint64_t>(place[0]), static_cast<uint64_t>(place[1]),
                     static_cast<uint64_t>(place[2]));
  }

  const mneme_cpu_texture& texture_;
  uint32_t dimensions_;
  Axis axes_[3];
  float position_[3] = {};
  int64_t layer_ = 0;
};

/// Linear memory has one dimension of elements that are counted; outside it is nothing.
Texel fetch(const mneme_cpu_texture& texture, uint32_t index) noexcept {
  return index < texture.width ? readTexel(texture, index, 0, 0) : Texel{};
}

/// Words of which each is a channel, as they lie in memory. Returns what they take there.
uint32_t pack(const mneme_cpu_texture& texture, const uint32_t* words, char* packed) noexcept {
  const uint32_t bytes = texture.channelBits / 8;
  const bool isHalf = texture.kind == MNEME_TEXTURE_FLOAT && texture.channelBits == 16;
  for (uint32_t channel = 0; channel < texture.channels; ++channel) {
    const uint32_t word =
        isHalf ? floatToHalf(std::bit_cast<float>(words[channel])) : words[channel];
    std::memcpy(packed + channel * bytes, &word, bytes); // little endian, as all that runs this
  }
  return texture.channels * bytes;
}

bool accessSurface(const mneme_cpu_texture& texture, uint32_t operation,
                   const uint32_t* coordinates, const void* written, void* read,
                   uint32_t bytes) noexcept {
  const int64_t elementBytes = texture.channels * texture.channelBits / 8;
  const int64_t unit = (operation & MNEME_SURFACE_ELEMENTS) ? elementBytes : 1;
  const int64_t sizes[3] = {texture.width * elementBytes, texture.height, texture.depth};
  int64_t place[3] = {};
  bool isInside = true;
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t wanted = static_cast<int32_t>(coordinates[axis]) * (axis == 0 ? unit : 1);
    const int64_t last = sizes[axis] - (axis == 0 ? int64_t{bytes} : 1);
    place[axis] = std::clamp<int64_t>(wanted, 0, std::max<int64_t>(last, 0));
    isInside = isInside && place[axis] == wanted;
  }
  if (!isInside && (operation & MNEME_SURFACE_TRAP))
    return false;
  char* at = texture.base + static_cast<uint64_t>(place[2]) * texture.sliceBytes +
             static_cast<uint64_t>(place[1]) * texture.pitchBytes + place[0];
  const bool isReached = isInside || (operation & MNEME_SURFACE_CLAMP);
  if (operation & MNEME_SURFACE_WRITE) {
    if (isReached)
      std::memcpy(at, written, bytes);
  } else if (isReached) {
    std::memcpy(read, at, bytes);
  } else {
    std::memset(read, 0, bytes);
  }
  return true;
}

} // namespace

bool accessTexture(const mneme_cpu_texture& texture, uint32_t operation,
                   const uint32_t* coordinates, uint32_t* values, uint32_t bytes) noexcept {
  if ((operation & MNEME_SURFACE_WRITE) && (operation & MNEME_SURFACE_ELEMENTS)) {
    char packed[16];
    const uint32_t size = pack(texture, values, packed);
    return accessSurface(texture, operation, coordinates, packed, nullptr, size);
  }
  if (operation & (MNEME_SURFACE_READ | MNEME_SURFACE_WRITE))
    return accessSurface(texture, operation, coordinates, values, values, bytes);
  Texel texel;
  const Sampler sampler(texture, operation, coordinates);
  const bool isPlain = (operation & 7) == 1 && (operation & MNEME_TEXTURE_NUMBERS);
  if (isPlain)
    texel = fetch(texture, coordinates[0]);
  else if (operation & MNEME_TEXTURE_GATHER)
    texel = sampler.gathered((operation & MNEME_TEXTURE_CHANNEL) / 0x20);
  else
    texel = texture.isLinear && isFloat(texture) ? sampler.interpolated() : sampler.nearest();
  for (int channel = 0; channel < 4; ++channel)
    values[channel] =
        isFloat(texture) ? std::bit_cast<uint32_t>(texel.number[channel]) : texel.bits[channel];
  return true;
}

} // namespace mneme::device::cpu
