// Room recorder: settings from the environment, which `mneme record` sets (docs/cli.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "runtime/core/artifact/writer.h"
#include "runtime/recorder/kernel_filter.h"
#include "runtime/recorder/launch_shapes.h"

namespace mneme::record {

/// Where device memory of the program comes from, if that can be chosen.
enum class Placement : uint8_t {
  Automatic, ///< the window, or the vendor if the program may share it with other processes
  Window,
  Vendor,
};

/// What the sections that a program marks mean (recorded_sections.h).
enum class SectionMode : uint8_t {
  Automatic, ///< launches outside are not recorded if the program can mark sections
  Only,      ///< launches outside are not recorded
  Ignored,
};

struct Settings {
  std::filesystem::path directory; ///< MNEME_DATA_DIR, default the working directory
  bool isDirectoryChosen = false;  ///< by the user: the program cannot give another
  uint64_t windowBytes = 0;    ///< MNEME_PAGE_SIZE, in GiB (fractions are accepted); 0: Backend's
  uint64_t maxRecordings = 4;  ///< MNEME_MAX_RECORDINGS, instances per kernel
  uint64_t skipRecordings = 0; ///< MNEME_SKIP_RECORDINGS, launches per kernel
  KernelFilter kernels;        ///< MNEME_RR_KERNELS
  LaunchShapes shapes;         ///< MNEME_RECORD_DIMS
  artifact::EpilogueFormat epilogue = artifact::EpilogueFormat::Diff; ///< MNEME_EPILOGUE_TYPE
  /// MNEME_KERNEL_PATIENCE, in seconds (fractions are accepted): limit for waits for the device
  std::chrono::nanoseconds kernelPatience = std::chrono::seconds(30);
  Placement placement = Placement::Automatic; ///< MNEME_ALLOCATIONS
  bool areGraphsWhole = false;                ///< MNEME_GRAPHS: no graph is launched in parts
  bool areGraphsKept = false;                 ///< MNEME_GRAPHS: graphs are kept as sequences, too
  SectionMode sections = SectionMode::Automatic; ///< MNEME_SECTIONS
  bool isRankRecorded = true;                    ///< MNEME_RECORD_RANKS against this process's rank

  /// Whether a kernel with these names, and with this place, is to be recorded.
  bool wants(const std::string& mangled, const std::string& demangled,
             const SourcePlace& place = {}) const {
    return kernels.wants(mangled, demangled, place);
  }
  /// Whether launches with this label are to be recorded, whatever the kernel.
  bool wantsLabel(const std::string& label) const { return kernels.wantsLabel(label); }
};

/// Reads the environment. \throws Error{InvalidArgument} with a sentence naming the variable,
/// Error{Unsupported} in a program that isPrivileged().
Settings readSettings();

} // namespace mneme::record
