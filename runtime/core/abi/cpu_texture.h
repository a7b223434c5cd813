// Room core/abi: texture and surface objects on the CPU device. An object is the address of a
// description in device memory, so that a recording contains it together with the described memory.
// Written by runtime/emulator/runtimes, read by runtime/emulator/executor.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MNEME_CPU_TEXTURE_MAGIC 0x314578655475704dull

enum mneme_cpu_texture_kind {
  MNEME_TEXTURE_SIGNED = 0,
  MNEME_TEXTURE_UNSIGNED = 1,
  MNEME_TEXTURE_FLOAT = 2
};
/// How a coordinate outside of the texture is mapped into it.
enum mneme_cpu_texture_address {
  MNEME_TEXTURE_WRAP = 0,
  MNEME_TEXTURE_CLAMP = 1,
  MNEME_TEXTURE_MIRROR = 2,
  MNEME_TEXTURE_BORDER = 3
};

typedef struct mneme_cpu_texture {
  uint64_t magic; ///< MNEME_CPU_TEXTURE_MAGIC
  char* base;
  uint64_t pitchBytes;
  uint64_t sliceBytes;
  uint32_t width; ///< in elements
  uint32_t height;
  uint32_t depth; ///< or the number of layers
  uint32_t channelBits;
  uint32_t channels;
  uint32_t kind;       ///< mneme_cpu_texture_kind
  uint32_t address[3]; ///< mneme_cpu_texture_address, of each dimension
  uint32_t isLinear;   ///< whether neighbours are interpolated
  uint32_t isFraction; ///< whether integers are read as fractions from -1 or 0 to 1
  uint32_t isNormal;   ///< whether coordinates range from 0 to 1
  float border[4];
} mneme_cpu_texture;

/// The operation of device code: the number of dimensions (1 to 3), and these flags.
enum mneme_cpu_texture_operation {
  MNEME_TEXTURE_LAYERED = 0x4,  ///< the third coordinate is the layer, a number
  MNEME_TEXTURE_NUMBERS = 0x8,  ///< coordinates are whole numbers
  MNEME_TEXTURE_GATHER = 0x10,  ///< one channel of the four neighbours
  MNEME_TEXTURE_CHANNEL = 0x60, ///< of a gather, times 0x20
  MNEME_SURFACE_READ = 0x80,
  MNEME_SURFACE_WRITE = 0x100,
  MNEME_SURFACE_CLAMP = 0x200, ///< outside: the nearest element; without: zero or nothing
  MNEME_SURFACE_TRAP = 0x400,  ///< an access outside ends the kernel
  /// For writes: the first coordinate counts elements, and each channel has a word that is
  /// converted. Without this flag coordinates count bytes, and values are stored unchanged.
  MNEME_SURFACE_ELEMENTS = 0x800,
};

#ifdef __cplusplus
}
#endif
