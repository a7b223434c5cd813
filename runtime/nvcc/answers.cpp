#include "runtime/nvcc/answers.h"

#include <algorithm>

#include "runtime/core/base/environment.h"
#include "runtime/nvcc/command.h"
#include "runtime/nvcc/option_table.h"

namespace mneme::nvcc {

std::string helpText() {
  std::string text = "\nUsage  : mneme-nvcc [options] <inputfile>\n\n"
                     "Takes nvcc's command line and compiles with clang " +
                     std::to_string(MNEME_LLVM_MAJOR) +
                     ", so that programs can be recorded.\n"
                     "Each option of nvcc, and what becomes of it:\n\n";
  for (const Option& option : options()) {
    std::string names(option.name.empty() ? option.brief : option.name);
    if (!option.name.empty())
      names.append(names.size() < 52 ? 52 - names.size() : 1, ' ')
          .append("(" + std::string(option.brief) + ")");
    text +=
        names + "\n        " + std::string(fate(option)) + ": " + std::string(option.text) + "\n";
  }
  return text + "\n@file\n        taken: its words stand in its place\n\n";
}

std::string versionText(const Toolkit& toolkit) {
  std::string text = "nvcc: NVIDIA (R) Cuda compiler driver, as mneme-nvcc serves it with clang " +
                     std::to_string(MNEME_LLVM_MAJOR) + "\n";
  if (toolkit.release == 0)
    return text + "no CUDA toolkit found\n";
  const std::string full = toolkit.fullVersion();
  const std::string release =
      std::to_string(toolkit.release / 10) + "." + std::to_string(toolkit.release % 10);
  return text + "Cuda compilation tools, release " + release + ", V" + full + "\n";
}

std::string architecturesText(Question question, unsigned toolkit) {
  std::string text;
  for (const unsigned number : knownArchitectures(toolkit)) {
    const std::string name = std::to_string(number);
    if (question == Question::ListBoth)
      text += "arch=compute_" + name + ",code=[sm_" + name + ",compute_" + name + "]\n";
    else
      text += (question == Question::ListCode ? "sm_" : "compute_") + name + "\n";
  }
  return text;
}

std::string settingsText(const Place& place, const Targets& targets) {
  const std::string root = place.toolkit.root.string();
  const char* const path = environmentValue("PATH");
  const std::string here = (place.prefix / "bin").string();
  std::string text =
      "#$ _HERE_=" + here + "\n#$ TOP=" + root + "\n#$ NVVMIR_LIBRARY_DIR=" + root +
      "/nvvm/libdevice\n#$ PATH=" + here + ":" + (path ? path : "") + "\n#$ INCLUDES=\"-I" + root +
      "/include\"  \n#$ SYSTEM_INCLUDES=\"-isystem\" \"" + root +
      "/include/cccl\"  \n#$ LIBRARIES=  " + shellText(place.toolkit.libraryOptions(place.prefix)) +
      "\n#$ ARCHITECTURES=";
  std::vector<std::string> names = targets.machine;
  for (const std::string& name : targets.ptx)
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  for (const std::string& name : names)
    text += " -arch compute_" + name;
  return text + "\n";
}

} // namespace mneme::nvcc
