#include <string>

#include "runtime/core/base/error.h"
#include "runtime/devices/device.h"

namespace mneme::device {

namespace {

std::string triple(const uint32_t* values) {
  return "(" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " +
         std::to_string(values[2]) + ")";
}

void checkDims(const char* what, const uint32_t* dims, const uint32_t* limits) {
  for (int i = 0; i < 3; ++i) {
    if (dims[i] == 0 || dims[i] > limits[i])
      throw Error(ErrorCode::InvalidArgument,
                  std::string(what) + " " + triple(dims) +
                      " is impossible: every dimension must be from 1 to " + triple(limits));
  }
}

} // namespace

void checkShape(const Description& device, const LaunchShape& shape, uint64_t staticSharedBytes) {
  checkDims("grid", shape.grid, device.maxGrid);
  checkDims("block", shape.block, device.maxBlock);
  const uint64_t threads = uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  if (threads > device.maxThreadsPerBlock)
    throw Error(ErrorCode::InvalidArgument, "block " + triple(shape.block) + " has " +
                                                std::to_string(threads) + " threads; a block of " +
                                                device.name + " has at most " +
                                                std::to_string(device.maxThreadsPerBlock));
  const uint64_t limit = device.maxSharedPerBlockOptinBytes;
  if (staticSharedBytes > limit || shape.dynamicSharedBytes > limit - staticSharedBytes)
    throw Error(ErrorCode::InvalidArgument,
                "the launch needs " + std::to_string(staticSharedBytes) + " static and " +
                    std::to_string(shape.dynamicSharedBytes) +
                    " dynamic bytes of shared memory; a block of " + device.name + " has at most " +
                    std::to_string(limit));
}

} // namespace mneme::device
