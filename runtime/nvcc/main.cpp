// The program mneme-nvcc: takes nvcc's command line, runs mneme-cxx, and answers as nvcc does.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/nvcc/answers.h"
#include "runtime/nvcc/chosen.h"
#include "runtime/nvcc/command.h"
#include "runtime/nvcc/command_line.h"
#include "runtime/nvcc/device_link.h"
#include "runtime/nvcc/explanations.h"
#include "runtime/nvcc/gpus.h"
#include "runtime/nvcc/host_compiler.h"
#include "runtime/nvcc/plan.h"
#include "runtime/nvcc/settings.h"
#include "runtime/nvcc/toolkit.h"

using namespace mneme;
using namespace mneme::nvcc;

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = environmentValue(name);
  return value ? value : "";
}

/// The command line with what NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS put around it.
std::vector<std::string> wholeCommandLine(int count, char** arguments) {
  std::vector<std::string> words = splitWords(variable("NVCC_PREPEND_FLAGS"));
  words.insert(words.end(), arguments + 1, arguments + count);
  for (const std::string& word : splitWords(variable("NVCC_APPEND_FLAGS")))
    words.push_back(word);
  return words;
}

/// A folder for objects between two steps; made when it is needed, removed at the end.
class Folder {
public:
  explicit Folder(bool isReal) {
    const std::string chosen = variable("TMPDIR");
    path_ = fs::path(chosen.empty() ? "/tmp" : chosen) / "mneme-nvcc-XXXXXX";
    if (!isReal)
      return;
    std::string name = path_.string();
    if (!mkdtemp(name.data()))
      throw Error(
          ErrorCode::IoFailed,
          systemMessage("cannot make a folder in '" + path_.parent_path().string() + "'", errno));
    path_ = name;
    isReal_ = true;
  }
  ~Folder() {
    std::error_code ignored;
    if (isReal_)
      fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

private:
  fs::path path_;
  bool isReal_ = false;
};

/// What the program is built for where the command line leaves it to the machine. PTX and cubins
/// are made for one architecture: then it is the first. Elsewhere mneme-cxx chooses the same; what
/// is printed names it.
void chooseTargets(Settings& settings, unsigned toolkit) {
  const bool isForOne = settings.phase == Phase::Ptx || settings.phase == Phase::Cubin;
  const bool isPrinted = settings.isVerbose || settings.isDryRun;
  Targets& targets = settings.targets;
  if (targets.isNative) {
    const std::vector<unsigned> gpus = gpusHere();
    if (gpus.empty())
      std::fputs("mneme-nvcc: warning: there is no GPU for '-arch=native' to name\n", stderr);
    targets.add(targetsFor(gpus, toolkit));
    targets.isNative = false;
  }
  if (!targets.isEmpty() || !(isForOne || isPrinted))
    return;
  targets = chosenFor(variable("CUDAARCHS"), toolkit).targets;
  if (isForOne)
    targets = {{targets.machine.empty() ? targets.ptx.front() : targets.machine.front()}, {}};
}

int answer(const Settings& settings, const Toolkit& toolkit) {
  std::string text;
  if (settings.question == Question::Help)
    text = helpText();
  else if (settings.question == Question::Version)
    text = versionText(toolkit);
  else
    text = architecturesText(settings.question, toolkit.release);
  return std::fputs(text.c_str(), stdout) < 0;
}

int work(Settings settings, Place place) {
  for (const std::string& name : dropUnknownToClang(settings.targets))
    std::fprintf(stderr, "mneme-nvcc: warning: clang %d cannot compile for %s: left out\n",
                 MNEME_LLVM_MAJOR, name.c_str());
  chooseTargets(settings, place.toolkit.release);
  if (settings.isVerbose || settings.isDryRun)
    std::fputs(settingsText(place, settings.targets).c_str(), stderr);
  place.hostWords = mpiWords(settings.hostCompiler);
  Plan plan = makePlan(settings, place);
  const Folder folder(plan.needsFolder && !settings.isDryRun);
  place.folder = folder.path();
  plan = makePlan(settings, place);
  for (const Command& command : plan.commands) {
    if (settings.isVerbose || settings.isDryRun)
      std::fprintf(stderr, "#$ %s\n", shellText(command).c_str());
    if (settings.isDryRun)
      continue;
    if (const int status = run(command); status != 0)
      return status;
  }
  return 0;
}

int compile(int count, char** arguments) {
  const fs::path bin = fs::read_symlink("/proc/self/exe").parent_path();
  if (!variable("MNEME_NVCC_KEEPS_DEVICE_CODE").empty())
    return keepDeviceCode({arguments + 1, arguments + count}, bin.parent_path());
  if (!variable("MNEME_NVCC_EXPLAINS").empty()) {
    unsetenv("MNEME_NVCC_EXPLAINS");
    return compileAndExplain({arguments + 1, arguments + count}, bin);
  }
  const std::vector<std::string> words = wholeCommandLine(count, arguments);
  const Toolkit toolkit = findToolkit(bin);
  const Settings settings = readSettings(parseCommandLine(words), toolkit.release);
  if (settings.question != Question::None)
    return answer(settings, toolkit);
  return work(settings, {bin.parent_path(), {}, toolkit, {}, variable("MNEME_INSTRUMENT") != "0"});
}

} // namespace

int main(int count, char** arguments) {
  keepEnvironment();
  try {
    return compile(count, arguments);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "mneme-nvcc: %s\n", failure.what());
    return 1;
  }
}
