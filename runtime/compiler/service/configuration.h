// Room compiler: from a configuration to what the compiler is asked for. Replays and production
// runs come through here, so that the code that was verified is the code that is deployed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/core/abi/argument.h"
#include "runtime/core/abi/mneme_rt.h"

namespace mneme::compile {

/// What can be varied about the code of a kernel, as runtime/core/abi/knobs.def lists it.
struct Knobs {
#define MNEME_KNOB(type, member, key, otherwise, high, deployed) type member = otherwise;
#include "runtime/core/abi/knobs.def"
};

/// A kernel as a recording or a program holds it.
struct KernelSource {
  std::string name; ///< mangled
  std::vector<std::vector<std::byte>> modules;
  std::string optionsJson; ///< how the ahead-of-time build generates code
};

/// The arguments, and members of structures passed by value, that become constants. A text names
/// them as "2", "0+8" (the member at offset 8 of argument 0) or "0.s.n" (by its name).
/// \throws Error{InvalidArgument} for Knobs::specializedArgs that are no such list, or not of
/// `args`.
std::vector<ArgPath> constantArgs(const Knobs& knobs, const std::vector<KernelArg>& args);

struct LaunchBounds {
  uint32_t maxThreads = 0, minBlocksPerSm = 0;
};
/// The bounds that the knobs ask for; without a number of theirs the threads of the block.
/// \throws Error{InvalidArgument} if they allow fewer than the block has
LaunchBounds launchBoundsOf(const Knobs& knobs, const mneme_dim3& block);

/// What the compiler is asked for to make the code for launches of these dimensions.
/// \throws Error{InvalidArgument} if launch bounds and block contradict each other.
Request toRequest(KernelSource source, const Knobs& knobs, const mneme_dim3& grid,
                  const mneme_dim3& block, std::string target);

/// Tells a request the dimensions, as code that depends on them needs.
void setDims(Request& request, const mneme_dim3& grid, const mneme_dim3& block);

/// The field of a MNEME_CODE_NUMBER by its key. \throws Error{InvalidArgument} if there is none.
uint32_t& codeNumber(Request& request, const std::string& key);

/// Sets a MNEME_CODE_TEXT or MNEME_CODE_FILES by its key. \throws Error{InvalidArgument} if there
/// is none, or files are not named as configurations name them.
void setCodeText(Request& request, const std::string& key, const std::string& value);

} // namespace mneme::compile
