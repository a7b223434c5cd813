#include "runtime/compiler/assembler/ptx_version.h"

#include <algorithm>
#include <array>

#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

struct Release {
  unsigned cuda; ///< 10 * major + minor
  unsigned ptx;
};

// From the release notes of the PTX language; ascending.
constexpr std::array kReleases = {
    Release{100, 63}, Release{101, 64}, Release{102, 65}, Release{110, 70}, Release{111, 71},
    Release{112, 72}, Release{113, 73}, Release{114, 74}, Release{115, 75}, Release{116, 76},
    Release{117, 77}, Release{118, 78}, Release{120, 80}, Release{121, 81}, Release{122, 82},
    Release{123, 83}, Release{124, 84}, Release{125, 85}, Release{127, 86}, Release{128, 87},
    Release{129, 88}, Release{130, 90},
};

struct Architecture {
  const char* name;
  unsigned ptx;
};

constexpr std::array kArchitectures = {
    Architecture{"sm_50", 40},   Architecture{"sm_52", 41},  Architecture{"sm_53", 42},
    Architecture{"sm_60", 50},   Architecture{"sm_61", 50},  Architecture{"sm_62", 50},
    Architecture{"sm_70", 60},   Architecture{"sm_72", 61},  Architecture{"sm_75", 63},
    Architecture{"sm_80", 70},   Architecture{"sm_86", 71},  Architecture{"sm_87", 74},
    Architecture{"sm_88", 90},   Architecture{"sm_89", 78},  Architecture{"sm_90", 78},
    Architecture{"sm_90a", 80},  Architecture{"sm_100", 86}, Architecture{"sm_100a", 86},
    Architecture{"sm_100f", 88}, Architecture{"sm_101", 86}, Architecture{"sm_101a", 86},
    Architecture{"sm_101f", 88}, Architecture{"sm_103", 88}, Architecture{"sm_103a", 88},
    Architecture{"sm_103f", 88}, Architecture{"sm_110", 90}, Architecture{"sm_110a", 90},
    Architecture{"sm_110f", 90}, Architecture{"sm_120", 87}, Architecture{"sm_120a", 87},
    Architecture{"sm_120f", 88}, Architecture{"sm_121", 88}, Architecture{"sm_121a", 88},
    Architecture{"sm_121f", 88},
};

} // namespace

unsigned ptxOfCuda(unsigned major, unsigned minor) {
  unsigned accepted = 0;
  for (const Release& release : kReleases)
    if (release.cuda <= major * 10 + std::min(minor, 9u))
      accepted = release.ptx;
  return accepted;
}

unsigned ptxOfArchitecture(const std::string& arch) {
  const auto found = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                  [&](const Architecture& known) { return arch == known.name; });
  return found == kArchitectures.end() ? 0 : found->ptx;
}

unsigned choosePtxVersion(const std::string& arch, unsigned wanted, unsigned accepted,
                          unsigned known, const std::string& toolName) {
  const unsigned needed = ptxOfArchitecture(arch);
  if (needed > accepted)
    throw Error(ErrorCode::Unsupported, arch + " needs PTX " + ptxText(needed) + ", but " +
                                            toolName + " accepts PTX up to " + ptxText(accepted) +
                                            "; install a newer CUDA toolkit");
  if (needed > known)
    throw Error(ErrorCode::Unsupported, arch + " needs PTX " + ptxText(needed) +
                                            ", but this LLVM writes PTX up to " + ptxText(known));
  return std::min({std::max(wanted, needed), accepted, known});
}

std::string ptxText(unsigned version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

} // namespace mneme::compile
