#include "runtime/nvcc/plan.h"

#include <algorithm>

#include "runtime/core/base/error.h"
#include "runtime/nvcc/inputs.h"

namespace mneme::nvcc {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorCode::InvalidArgument, sentence);
}

/// What a phase makes of one source, behind the source's name.
const char* suffixOf(Phase phase) {
  switch (phase) {
  case Phase::Ptx:
    return ".ptx";
  case Phase::Cubin:
    return ".cubin";
  case Phase::Fatbin:
    return ".fatbin";
  default:
    return ".o";
  }
}

/// Options that do for one half of a compilation what the other half is not to see.
bool isForDevice(const std::string& word) {
  return word == "-Xarch_device" || word == "-Xcuda-ptxas" || word == "-Xoffload-linker";
}

/// Makes the commands, one step after the other.
class Planner {
public:
  Planner(const Settings& settings, const Place& place) : settings_(settings), place_(place) {}

  Plan plan() {
    checkInputs();
    switch (settings_.phase) {
    case Phase::Link:
      compileAll();
      link();
      break;
    case Phase::Archive:
      compileAll();
      archive();
      break;
    case Phase::DeviceLink:
      compileAll();
      linkDevice();
      break;
    default:
      compileEach();
    }
    return std::move(plan_);
  }

private:
  void checkInputs() {
    size_t sources = 0;
    for (const Entry& entry : settings_.line) {
      if (entry.input.empty())
        continue;
      hasInput_ = true;
      const Kind kind = kindOf(entry.input, entry.language);
      if (kind == Kind::Refused || (kind == Kind::Ptx && settings_.phase != Phase::Cubin))
        refuse("clang reads no such file: '" + entry.input + "'");
      sources += kind != Kind::Linked;
    }
    if (!hasInput_)
      refuse("no input files; --help shows the options");
    const bool isForEach = settings_.phase != Phase::Link && settings_.phase != Phase::Archive &&
                           settings_.phase != Phase::DeviceLink;
    if (isForEach && sources > 1 && !settings_.output.empty())
      refuse("-o names one file, and there are " + std::to_string(sources) + " sources");
  }

  /// The words of the whole line, for a step that sees CUDA's halves, or does not.
  Words wordsOf(bool isCuda) const {
    Words words;
    for (const Entry& entry : settings_.line) {
      if (entry.words.empty() || (!isCuda && isForDevice(entry.words.front())))
        continue;
      const bool isHost = entry.words.front() == "-Xarch_host";
      words.insert(words.end(), entry.words.begin() + (isHost && !isCuda), entry.words.end());
    }
    append(words, place_.hostWords);
    return words;
  }

  Words arithmeticOfDevice() const {
    Words words;
    const bool flushes = settings_.flushes.value_or(settings_.fast);
    const bool isRough = !settings_.divides.value_or(!settings_.fast) &&
                         !settings_.takesRoot.value_or(!settings_.fast);
    if (flushes)
      words.push_back("-fgpu-flush-denormals-to-zero");
    if (settings_.fast)
      words.push_back("-fgpu-approx-transcendentals");
    if (isRough)
      append(words, {"-Xarch_device", "-fapprox-func"});
    if (!settings_.contracts.value_or(true))
      append(words, {"-Xarch_device", "-ffp-contract=off"});
    return words;
  }

  Words wordsOfDevice() const {
    Words words = clangOptions(settings_.targets);
    // nvcc optimises device code at its highest level, whatever -O says of the host.
    if (settings_.isDebug && !settings_.optimisesDebug)
      append(words, {"-g", "--cuda-noopt-device-debug", "-Xarch_device", "-O0"});
    else
      append(words, {"-Xarch_device", "-O3"});
    // nvcc says nothing of loops that it does not unroll as a pragma asks; CUB has many.
    words.push_back("-Wno-pass-failed");
    // nvcc warns of these, or takes them, where clang stops.
    for (const char* kind :
         {"c++11-narrowing", "register", "missing-template-arg-list-after-template-kw"})
      words.push_back("-Wno-error=" + std::string(kind));
    if (settings_.isDebug)
      words.push_back("-D__CUDACC_DEBUG__");
    append(words, arithmeticOfDevice());
    if (settings_.streamPerThread)
      append(words, {"-fgpu-default-stream=per-thread", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"});
    if (settings_.isRelocatable)
      append(words, {"-fgpu-rdc", "--offload-new-driver", "-D__CUDACC_RDC__"});
    if (settings_.isRelocatable && settings_.isForLinkTime)
      words.push_back("-foffload-lto");
    return words;
  }

  Words wordsOfPhase(Phase phase) const {
    switch (phase) {
    case Phase::Ptx:
      return {"-S", "--cuda-device-only"};
    case Phase::Cubin:
      return {"-c", "--cuda-device-only"};
    case Phase::Fatbin:
      return {"-c", "--cuda-device-only", "--gpu-bundle-output"};
    case Phase::Preprocess:
      return {"-E"};
    case Phase::Depend:
      return {"-M"};
    case Phase::DependOnOwn:
      return {"-MM"};
    default:
      return {"-c"};
    }
  }

  std::string tool(const char* name) const { return (place_.prefix / "bin" / name).string(); }

  /// What the toolkit's own headers are found by in sources that are not CUDA.
  Words toolkitHeaders() const {
    Words words;
    for (const char* name : {"include", "include/cccl"})
      if (!place_.toolkit.root.empty() && fs::exists(place_.toolkit.root / name))
        append(words, {"-idirafter", (place_.toolkit.root / name).string()});
    return words;
  }

  /// CMake identifies compilers by what a source of this name is compiled to.
  bool isIdentification(const fs::path& input) const {
    return input.filename() == "CMakeCUDACompilerId.cu";
  }

  /// The macros by which sources tell the releases of nvcc.
  Words versionMacros(const std::string& version) const {
    const size_t first = version.find('.'), second = version.find('.', first + 1);
    return {"-D__CUDACC_VER_MAJOR__=" + version.substr(0, first),
            "-D__CUDACC_VER_MINOR__=" + version.substr(first + 1, second - first - 1),
            "-D__CUDACC_VER_BUILD__=" + version.substr(second + 1)};
  }

  Words identification() const {
    Words words = {"-x", "c++", "-D__NVCC__", "-D__CUDACC__"};
    append(words, versionMacros(place_.toolkit.fullVersion()));
    return words;
  }

  /// The same for a source of each language: options for the language, then the source.
  Words sourceWords(const Entry& entry, Kind kind) const {
    Words words;
    if (kind != Kind::C && !settings_.standard.empty())
      words.push_back("-std=" + settings_.standard);
    if (kind == Kind::Cuda && isIdentification(entry.input)) {
      append(words, identification());
    } else if (kind == Kind::Cuda) {
      append(words, wordsOfDevice());
      if (const unsigned release = place_.toolkit.release)
        append(words, versionMacros(std::to_string(release / 10) + "." +
                                    std::to_string(release % 10) + ".0"));
      const fs::path own = place_.prefix / "include" / "mneme";
      append(words, {"-isystem", (own / "cuda_wrappers").string(), "-include",
                     (own / "nvcc.h").string(), "-x", "cuda"});
    } else {
      append(words, toolkitHeaders());
      if (kind != Kind::Source)
        append(words, {"-x", kind == Kind::C ? "c" : "c++"});
    }
    words.push_back(entry.input);
    return words;
  }

  void keepFiles(Words& words, std::string& output, std::string& moved) const {
    if (settings_.keepDirectory.empty()) {
      words.push_back("-save-temps=cwd");
      return;
    }
    // clang puts them beside its output, which is moved afterwards.
    words.push_back("-save-temps=obj");
    moved = output;
    output = (fs::path(settings_.keepDirectory) / fs::path(output).filename()).string();
  }

  void compile(const Entry& entry, Phase phase, std::string output) {
    const Kind kind = kindOf(entry.input, entry.language);
    if (kind == Kind::Ptx) {
      assemble(entry.input, output);
      return;
    }
    const bool isCuda = kind == Kind::Cuda && !isIdentification(entry.input);
    // Warnings that are chosen are GCC's, which clang need not know.
    Command command{{tool(kind == Kind::C ? "mneme-cc" : "mneme-cxx"), "-Qunused-arguments",
                     "-Wno-unknown-warning-option"}};
    append(command.words, wordsOfPhase(phase));
    if (isCuda &&
        (phase == Phase::Preprocess || phase == Phase::Depend || phase == Phase::DependOnOwn))
      command.words.push_back("--cuda-host-only");
    append(command.words, wordsOf(isCuda));
    append(command.words, sourceWords(entry, kind));
    std::string moved;
    if (settings_.keeps && phase == Phase::Compile && !settings_.keepDirectory.empty())
      plan_.commands.push_back({{"mkdir", "-p", settings_.keepDirectory}});
    if (settings_.keeps && phase == Phase::Compile)
      keepFiles(command.words, output, moved);
    if (!output.empty())
      append(command.words, {"-o", output});
    plan_.commands.push_back(std::move(command));
    if (!moved.empty())
      plan_.commands.push_back({{"mv", "-f", output, moved}});
  }

  void assemble(const std::string& input, const std::string& output) {
    Words words = {(place_.toolkit.root / "bin" / "ptxas").string()};
    for (const std::string& name : settings_.targets.machine)
      words.push_back("-arch=sm_" + name);
    for (const Entry& entry : settings_.line)
      if (entry.words.size() == 2 && entry.words[0] == "-Xcuda-ptxas")
        words.push_back(entry.words[1]);
    append(words, {input, "-o", output});
    plan_.commands.push_back({std::move(words)});
  }

  /// Where the result of one source is put.
  std::string outputOf(const Entry& entry) const {
    if (!settings_.output.empty())
      return settings_.output;
    const Phase phase = settings_.phase;
    if (phase == Phase::Preprocess || phase == Phase::Depend || phase == Phase::DependOnOwn)
      return {};
    const fs::path name = fs::path(entry.input).stem().concat(suffixOf(phase));
    return (fs::path(settings_.outputDirectory) / name).string();
  }

  void compileEach() {
    const bool isForOne = settings_.phase == Phase::Ptx || settings_.phase == Phase::Cubin;
    if (isForOne && settings_.targets.machine.size() + settings_.targets.ptx.size() > 1 &&
        !isOneArchitecture())
      refuse("-ptx and -cubin are made for one architecture, and there are several");
    for (const Entry& entry : settings_.line) {
      const bool isSource =
          !entry.input.empty() && kindOf(entry.input, entry.language) != Kind::Linked;
      const bool isForHost = isSource && kindOf(entry.input, entry.language) != Kind::Cuda &&
                             kindOf(entry.input, entry.language) != Kind::Ptx;
      const bool isForDeviceOnly = isForOne || settings_.phase == Phase::Fatbin;
      if (isSource && !(isForHost && isForDeviceOnly))
        compile(entry, settings_.phase, outputOf(entry));
    }
  }

  bool isOneArchitecture() const {
    const Targets& targets = settings_.targets;
    return targets.machine.size() <= 1 && (targets.ptx.empty() || targets.ptx == targets.machine);
  }

  /// Compiles every source to an object that is needed until the end, and notes what is linked.
  void compileAll() {
    size_t count = 0;
    for (const Entry& entry : settings_.line) {
      if (entry.input.empty()) {
        linked_.push_back(entry);
        continue;
      }
      if (kindOf(entry.input, entry.language) == Kind::Linked) {
        linked_.push_back(entry);
        objects_.push_back(entry.input);
        continue;
      }
      // Numbered, since sources of two directories may have one name; archives show the names.
      const fs::path folder = count++ ? place_.folder / std::to_string(count) : place_.folder;
      const std::string object = (folder / fs::path(entry.input).stem().concat(".o")).string();
      if (folder != place_.folder)
        plan_.commands.push_back({{"mkdir", "-p", folder.string()}});
      plan_.needsFolder = true;
      compile(entry, Phase::Compile, object);
      compiledRelocatable_ |= settings_.isRelocatable;
      linked_.push_back({{}, object, {}});
    }
  }

  std::vector<fs::path> libraryDirectories() const {
    std::vector<fs::path> directories;
    for (const Entry& entry : settings_.line)
      if (!entry.words.empty() && entry.words[0].starts_with("-L"))
        directories.push_back(entry.words[0].substr(2));
    return directories;
  }

  /// Objects and archives that are linked, as far as the command line names them.
  std::vector<fs::path> linkedFiles() const {
    std::vector<fs::path> files(objects_.begin(), objects_.end());
    for (const Entry& entry : settings_.line)
      if (!entry.words.empty() && entry.words[0].starts_with("-l"))
        if (const fs::path file = archiveOf(entry.words[0].substr(2), libraryDirectories());
            !file.empty())
          files.push_back(file);
    return files;
  }

  /// What links device code, where there is some.
  Words deviceLinkWords() const {
    Words words = {"--offload-link"};
    if (settings_.isForLinkTime)
      words.push_back("-foffload-lto");
    // Else clang takes device code out of archives only for architectures that an object has.
    if (MNEME_LLVM_MAJOR >= 22)
      for (const std::string& name : settings_.targets.machine)
        words.push_back("-Wl,--should-extract=sm_" + name);
    return words;
  }

  Words runtimeWords() const {
    Words words = place_.toolkit.libraryOptions(place_.prefix);
    if (place_.instruments)
      words.push_back("-L" + (place_.prefix / "lib").string());
    if (settings_.runtime == "static")
      append(words, {"-lcudart_static", "-lrt", "-lpthread", "-ldl"});
    words.push_back("-Wl,--push-state,--as-needed");
    if (settings_.runtime == "shared")
      words.push_back("-lcudart");
    if (place_.instruments)
      words.push_back("-lmneme_rt");
    words.push_back("-Wl,--pop-state");
    return words;
  }

  Words linkWords(bool isDeviceOnly) const {
    Words words = {tool("mneme-cxx"), "-Qunused-arguments"};
    for (const Entry& entry : linked_) {
      if (!entry.input.empty()) {
        words.push_back(entry.input);
        continue;
      }
      const bool isHost = entry.words.front() == "-Xarch_host";
      const bool isNvlinks = entry.words.front() == "-Xoffload-linker";
      if (!isForDevice(entry.words.front()) || isNvlinks)
        words.insert(words.end(), entry.words.begin() + isHost, entry.words.end());
    }
    append(words, place_.hostWords);
    const bool linksDevice =
        isDeviceOnly ||
        (settings_.linksDevice &&
         (compiledRelocatable_ || settings_.isRelocatable || haveRelocatableCode(linkedFiles())));
    if (linksDevice && std::find(words.begin(), words.end(), "-r") == words.end())
      append(words, deviceLinkWords());
    return words;
  }

  void link() {
    Command command{linkWords(false)};
    append(command.words, runtimeWords());
    const std::string output = settings_.output.empty() ? "a.out" : settings_.output;
    append(command.words, {"-o", output});
    if (settings_.runtime == "none")
      command.variables.push_back("MNEME_LINK_CUDART=0");
    plan_.commands.push_back(std::move(command));
    if (settings_.runs) {
      Words words = {fs::path(output).has_parent_path() ? output : "./" + output};
      append(words, settings_.runArguments);
      plan_.commands.push_back({std::move(words)});
    }
  }

  /// clang's linker wrapper links the device code and makes an object that registers it; what it
  /// starts as the linker is this program, which keeps that object.
  void linkDevice() {
    Command command{linkWords(true)};
    const std::string output = settings_.output.empty() ? "a_dlink.o" : settings_.output;
    append(command.words, {"-nostdlib", "--ld-path=" + tool("mneme-nvcc"), "-o", output});
    command.variables.push_back("MNEME_NVCC_KEEPS_DEVICE_CODE=1");
    plan_.commands.push_back(std::move(command));
  }

  void archive() {
    if (settings_.output.empty())
      refuse("-lib needs -o");
    Words words = {settings_.archiver};
    append(words, settings_.archiverOptions);
    append(words, {"cr", settings_.output});
    for (const Entry& entry : linked_)
      if (!entry.input.empty())
        words.push_back(entry.input);
    plan_.commands.push_back({std::move(words)});
  }

  const Settings& settings_;
  const Place& place_;
  Plan plan_;
  std::vector<Entry> linked_;
  std::vector<std::string> objects_;
  bool hasInput_ = false;
  bool compiledRelocatable_ = false;
};

} // namespace

Plan makePlan(const Settings& settings, const Place& place) {
  return Planner(settings, place).plan();
}

} // namespace mneme::nvcc
