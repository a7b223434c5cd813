// Room emulator/runtimes: the API's plain data types, laid out as documented by the vendors
// (compared with their headers in tests/unit/cpu_runtime). Contains no functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::cpu_runtime {

struct Dim3 {
  uint32_t x, y, z;
};

struct Extent {
  size_t width; ///< in bytes if no array is involved
  size_t height;
  size_t depth;
};

struct Pos {
  size_t x, y, z;
};

struct PitchedPtr {
  void* ptr;
  size_t pitch;
  size_t xsize;
  size_t ysize;
};

enum class CopyKind : int {
  HostToHost = 0,
  HostToDevice = 1,
  DeviceToHost = 2,
  DeviceToDevice = 3,
  Default = 4,
  DeviceToDeviceByEngine = 1024 ///< see Vendor::copiesByEngine
};

struct Memcpy3DParms {
  void* srcArray;
  Pos srcPos;
  PitchedPtr srcPtr;
  void* dstArray;
  Pos dstPos;
  PitchedPtr dstPtr;
  Extent extent;
  CopyKind kind;
};

struct Memcpy3DPeerParms {
  void* srcArray;
  Pos srcPos;
  PitchedPtr srcPtr;
  int srcDevice;
  void* dstArray;
  Pos dstPos;
  PitchedPtr dstPtr;
  int dstDevice;
  Extent extent;
};

enum class MemoryType : int { Unregistered = 0, Host = 1, Device = 2, Managed = 3 };

/// The part common to all versions; newer ones append reserved words, which are left untouched.
struct PointerAttributes {
  MemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

struct MemLocation {
  int type; ///< 0 none, 1 device, 2 host, 3 NUMA node
  int id;
};

struct MemAccessDesc {
  MemLocation location;
  int flags; ///< 0 none, 1 read, 3 read and write
};

struct FuncAttributes {
  size_t sharedSizeBytes;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
  int clusterDimMustBeSet;
  int requiredClusterWidth;
  int requiredClusterHeight;
  int requiredClusterDepth;
  int clusterSchedulingPolicyPreference;
  int nonPortableClusterSizeAllowed;
  int reserved[16];
};

enum FuncAttributeId : int {
  kFuncMaxDynamicSharedMemorySize = 8,
  kFuncPreferredSharedMemoryCarveout = 9,
  kFuncClusterDimMustBeSet = 10,
  kFuncRequiredClusterWidth = 11,
  kFuncRequiredClusterHeight = 12,
  kFuncRequiredClusterDepth = 13,
  kFuncNonPortableClusterSizeAllowed = 14,
  kFuncClusterSchedulingPolicyPreference = 15
};

enum LaunchAttributeId : int { kLaunchCooperative = 2, kLaunchClusterDimension = 4 };

struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    Dim3 clusterDim;
    int cooperative;
  } value;
};

struct LaunchConfig {
  Dim3 gridDim;
  Dim3 blockDim;
  size_t dynamicSmemBytes;
  void* stream;
  LaunchAttribute* attrs;
  unsigned numAttrs;
};

/// One launch of a call that launches on several devices.
struct DeviceLaunch {
  const void* function;
  Dim3 gridDim;
  Dim3 blockDim;
  void** args;
  size_t sharedBytes;
  void* stream;
};

/// The same in the drivers' layout.
struct DriverDeviceLaunch {
  const void* function;
  Dim3 gridDim;
  Dim3 blockDim;
  unsigned sharedBytes;
  void* stream;
  void** args;

  DeviceLaunch asRuntimes() const noexcept {
    return {function, gridDim, blockDim, args, sharedBytes, stream};
  }
};

struct ChannelFormatDesc {
  int x, y, z, w; ///< bits per component
  int kind;
};

/// The structure passed to the registration of a fat binary.
struct FatbinWrapper {
  int magic; ///< Vendor::fatbinWrapperMagic
  int version;
  const void* data; ///< fat binary header
  void* filenameOrFatbins;
};

} // namespace mneme::cpu_runtime
