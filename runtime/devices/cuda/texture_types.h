// Room devices/cuda: the driver's types for textures, surfaces and arrays, as driver_types.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::device::cuda {

using CUarray = struct CUarray_st*;
using CUmipmappedArray = struct CUmipmappedArray_st*;
using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;

enum CUresourcetype : int {
  CU_RESOURCE_TYPE_ARRAY = 0,
  CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
  CU_RESOURCE_TYPE_LINEAR = 2,
  CU_RESOURCE_TYPE_PITCH2D = 3,
};

constexpr unsigned CUDA_ARRAY3D_SPARSE = 0x40;
constexpr unsigned CUDA_ARRAY3D_DEFERRED_MAPPING = 0x80;

struct CUDA_ARRAY3D_DESCRIPTOR {
  size_t Width = 0, Height = 0, Depth = 0;
  unsigned Format = 0;
  unsigned NumChannels = 0;
  unsigned Flags = 0;
};
static_assert(sizeof(CUDA_ARRAY3D_DESCRIPTOR) == 40);

struct CUDA_RESOURCE_DESC {
  CUresourcetype resType = CU_RESOURCE_TYPE_ARRAY;
  union {
    struct {
      CUarray hArray;
    } array;
    struct {
      CUmipmappedArray hMipmappedArray;
    } mipmap;
    struct {
      unsigned long long devPtr;
      unsigned format;
      unsigned numChannels;
      size_t sizeInBytes;
    } linear;
    struct {
      unsigned long long devPtr;
      unsigned format;
      unsigned numChannels;
      size_t width, height, pitchInBytes;
    } pitch2D;
    int reserved[32] = {};
  } res;
  unsigned flags = 0;
};
static_assert(sizeof(CUDA_RESOURCE_DESC) == 144);
static_assert(offsetof(CUDA_RESOURCE_DESC, res) == 8);
static_assert(offsetof(CUDA_RESOURCE_DESC, flags) == 136);

struct CUDA_TEXTURE_DESC {
  unsigned addressMode[3] = {};
  unsigned filterMode = 0;
  unsigned flags = 0;
  unsigned maxAnisotropy = 0;
  unsigned mipmapFilterMode = 0;
  /// Floats, which are handled by their bits only.
  uint32_t mipmapLevelBias = 0, minMipmapLevelClamp = 0, maxMipmapLevelClamp = 0;
  uint32_t borderColor[4] = {};
  int reserved[12] = {};
};
static_assert(sizeof(CUDA_TEXTURE_DESC) == 104);

struct CUDA_RESOURCE_VIEW_DESC {
  unsigned format = 0;
  size_t width = 0, height = 0, depth = 0;
  unsigned firstMipmapLevel = 0, lastMipmapLevel = 0, firstLayer = 0, lastLayer = 0;
  unsigned reserved[16] = {};
};
static_assert(sizeof(CUDA_RESOURCE_VIEW_DESC) == 112);

/// One side of CUDA_MEMCPY3D.
struct CUcopySide {
  size_t xInBytes = 0, y = 0, z = 0, lod = 0;
  unsigned memoryType = 0; ///< CUmemorytype
  void* host = nullptr;
  unsigned long long device = 0;
  CUarray array = nullptr;
  void* reserved = nullptr;
  size_t pitch = 0, height = 0;
};

struct CUDA_MEMCPY3D {
  CUcopySide src, dst;
  size_t WidthInBytes = 0, Height = 0, Depth = 0;
};
static_assert(sizeof(CUDA_MEMCPY3D) == 200);

} // namespace mneme::device::cuda
