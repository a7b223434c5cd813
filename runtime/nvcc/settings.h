// Room nvcc: what a command line asks for, in clang's words as far as these are the same for every
// step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/nvcc/architectures.h"
#include "runtime/nvcc/command_line.h"

namespace mneme::nvcc {

enum class Phase {
  Link,
  Compile,
  DeviceLink,
  Archive,
  Ptx,
  Cubin,
  Fatbin,
  Preprocess,
  Depend,
  DependOnOwn, ///< without headers of the system
};

/// What nvcc is asked instead of being given work.
enum class Question { None, Help, Version, ListCode, ListArch, ListBoth };

/// Words for clang, or an input (`language`: "cu", "c++", "c", or empty for what its name says).
struct Entry {
  std::vector<std::string> words;
  std::string input;
  std::string language;
};

struct Settings {
  Phase phase = Phase::Link;
  Question question = Question::None;
  std::vector<Entry> line; ///< in the order of the command line
  std::string output;
  std::string outputDirectory;
  std::string standard; ///< "c++17"
  Targets targets;
  bool isRelocatable = false;
  bool isForLinkTime = false;
  bool linksDevice = true;
  bool isDryRun = false;
  bool isVerbose = false;
  bool keeps = false;
  std::string keepDirectory;
  bool runs = false;
  std::vector<std::string> runArguments;
  std::string runtime = "shared"; ///< of --cudart
  std::string archiver = "ar";
  std::vector<std::string> archiverOptions;
  std::string hostCompiler;
  bool isDebug = false;          ///< -G
  bool optimisesDebug = false;   ///< --dopt
  bool fast = false;             ///< --use_fast_math
  std::optional<bool> flushes;   ///< --ftz
  std::optional<bool> divides;   ///< --prec-div
  std::optional<bool> takesRoot; ///< --prec-sqrt
  std::optional<bool> contracts; ///< --fmad
  bool streamPerThread = false;
};

/// \param toolkit  its release, for -arch=all; 0 if unknown
/// \throws Error{InvalidArgument} for an option that is unknown or refused, or a value that makes
/// no sense.
Settings readSettings(const std::vector<Item>& items, unsigned toolkit);

} // namespace mneme::nvcc
