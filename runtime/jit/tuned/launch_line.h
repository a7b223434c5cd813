// Room jit/tuned: the line of a trace that says how launches of a kind are executed.
#pragma once

#include <string>

#include "runtime/jit/tuned/select.h"

namespace mneme::tuned {

/// A kind of launches, and what is launched in its place.
struct TracedLaunch {
  std::string kernel; ///< for users
  Dims launched;
  uint64_t sharedBytes = 0;
  int device = 0;
  Choice choice;
  bool isTuned = false; ///< false: the program's own kernel, with `used`
  Dims used;
};

/// "4x1x1"
std::string textOf(const mneme_dim3& dims);
/// "4x1x1, 256x1x1"
std::string textOf(const Dims& dims);

std::string lineOf(const TracedLaunch& launch);

} // namespace mneme::tuned
