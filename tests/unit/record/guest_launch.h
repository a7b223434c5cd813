// A launch on one of several devices, as the test's runtime takes it.
#pragma once

#include <cstddef>

#include "runtime/core/abi/mneme_rt.h"

struct GuestLaunch {
  const void* kernel;
  mneme_dim3 grid, block;
  void** args;
  size_t sharedBytes;
  void* stream;
};

extern "C" int cudaLaunchCooperativeKernelMultiDevice(const GuestLaunch* launches, unsigned count,
                                                      unsigned flags);
