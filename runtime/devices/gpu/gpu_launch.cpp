#include "runtime/devices/gpu/gpu_launch.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/core/base/error.h"

namespace mneme::device::gpu {

void refuse(const std::string& why) { throw Error(ErrorCode::InvalidArgument, why); }

uint64_t product(const uint32_t* dims) { return uint64_t{dims[0]} * dims[1] * dims[2]; }

std::string triple(const uint32_t* dims) {
  return "(" + std::to_string(dims[0]) + ", " + std::to_string(dims[1]) + ", " +
         std::to_string(dims[2]) + ")";
}

std::string launchText(const LoadedKernel& module, const LaunchShape& shape) {
  return "launching kernel '" + module.kernel() + "' with grid " + triple(shape.grid) +
         " and block " + triple(shape.block);
}

bool isSame(const LaunchShape& first, const LaunchShape& second) {
  return std::equal(first.grid, first.grid + 3, second.grid) &&
         std::equal(first.block, first.block + 3, second.block) &&
         std::equal(first.cluster, first.cluster + 3, second.cluster) &&
         first.dynamicSharedBytes == second.dynamicSharedBytes &&
         first.isCooperative == second.isCooperative &&
         first.sharedCarveout == second.sharedCarveout && first.cacheConfig == second.cacheConfig;
}

void checkThreads(const Description& device, const LoadedKernel& module, const LaunchShape& shape) {
  const KernelAttributes attributes = module.attributes();
  const uint64_t threads = product(shape.block);
  if (threads <= attributes.maxThreadsPerBlock)
    return;
  std::string why = "block " + triple(shape.block) + " has " + std::to_string(threads) +
                    " threads, but kernel '" + module.kernel() + "' runs with at most " +
                    std::to_string(attributes.maxThreadsPerBlock);
  const uint64_t registers = threads * attributes.registers;
  if (device.maxRegistersPerBlock && registers > device.maxRegistersPerBlock)
    why += ": " + std::to_string(threads) + " threads of " + std::to_string(attributes.registers) +
           " registers need " + std::to_string(registers) + ", a block of " + device.name +
           " has " + std::to_string(device.maxRegistersPerBlock) +
           "; use smaller blocks or limit the registers";
  else
    why += ", the bound it was compiled with or its registers allow";
  refuse(why);
}

void checkResident(const Description& device, const LoadedKernel& module, const LaunchShape& shape,
                   uint64_t resident) {
  if (product(shape.grid) > resident)
    refuse("cooperative grid " + triple(shape.grid) + " has " +
           std::to_string(product(shape.grid)) + " blocks, which must all run at once, but only " +
           std::to_string(resident) + " of kernel '" + module.kernel() + "' with block " +
           triple(shape.block) + " and " + std::to_string(shape.dynamicSharedBytes) +
           " dynamic bytes of shared memory fit on " + device.name);
}

Status waitFor(const Driver& driver, EventHandle event, double timeoutSeconds) {
  using Clock = std::chrono::steady_clock;
  using namespace std::chrono_literals;
  const Clock::time_point start = Clock::now();
  while (true) {
    const Status result = driver.queryEvent(event);
    if (result != kNotReady)
      return result;
    const Clock::duration elapsed = Clock::now() - start;
    if (timeoutSeconds > 0 && elapsed > std::chrono::duration<double>(timeoutSeconds))
      return kNotReady;
    if (elapsed > 2ms)
      std::this_thread::sleep_for(std::min<Clock::duration>(elapsed / 32, 1ms));
    else if (elapsed > 200us)
      std::this_thread::yield();
  }
}

} // namespace mneme::device::gpu
