#include "runtime/jit/tuned/launch_line.h"

namespace mneme::tuned {

std::string textOf(const mneme_dim3& dims) {
  return std::to_string(dims.x) + "x" + std::to_string(dims.y) + "x" + std::to_string(dims.z);
}

std::string textOf(const Dims& dims) { return textOf(dims.grid) + ", " + textOf(dims.block); }

std::string lineOf(const TracedLaunch& launch) {
  std::string line = "[kernel-trace] " + launch.kernel + " <<<" + textOf(launch.launched) + ", " +
                     std::to_string(launch.sharedBytes) + ">>> on device " +
                     std::to_string(launch.device) + ": ";
  const Choice& choice = launch.choice;
  if (launch.isTuned)
    line += "variant " + std::to_string(choice.variant) + ", " + closenessName(choice.closeness);
  else
    line += choice.closeness == Closeness::None ? "no variant is allowed, runs as built"
                                                : "runs as built";
  if (!(launch.used == launch.launched))
    line += ", launched <<<" + textOf(launch.used) + ">>>";
  return line;
}

} // namespace mneme::tuned
