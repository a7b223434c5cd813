#include "runtime/compiler/service/source.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "runtime/compiler/assembler/subprocess.h"
#include "runtime/compiler/service/client.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/hash.h"

namespace mneme::compile {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDependencies = "dependencies";

/// A directory that goes with its content.
class WorkDirectory {
public:
  WorkDirectory() {
    const char* parent = environmentValue("TMPDIR");
    std::string path = std::string(parent && *parent ? parent : "/tmp") + "/mneme-XXXXXX";
    if (!mkdtemp(path.data()))
      throw Error(ErrorCode::IoFailed,
                  systemMessage("cannot make a directory for a compiler's output in '" +
                                    fs::path(path).parent_path().string() + "'",
                                errno));
    path_ = path;
  }
  ~WorkDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  fs::path operator/(const char* name) const { return path_ / name; }

private:
  fs::path path_;
};

std::string hashOfFile(const fs::path& path) {
  try {
    return toHex(hash64(readFile(path)));
  } catch (const Error&) {
    return "missing";
  }
}

/// The files of a rule for make: blanks in names have a backslash before them, and lines end with
/// one.
std::vector<std::string> filesOfRule(const std::string& rule) {
  std::vector<std::string> files;
  std::string file;
  bool isTarget = true;
  const auto end = [&] {
    if (!file.empty() && !isTarget)
      files.push_back(file);
    if (file.ends_with(':'))
      isTarget = false;
    file.clear();
  };
  for (size_t at = 0; at < rule.size(); ++at) {
    const char next = at + 1 < rule.size() ? rule[at + 1] : '\0';
    if (rule[at] == '\\' && (next == ' ' || next == '#' || next == '\\'))
      file += rule[++at];
    else if (rule[at] == '\\' && next == '\n')
      ++at;
    else if (rule[at] == ' ' || rule[at] == '\n')
      end();
    else
      file += rule[at];
  }
  end();
  return files;
}

/// The included files, by the names under which the compiler found them: another working directory
/// may have other files.
nlohmann::json dependenciesIn(const fs::path& path) {
  nlohmann::json found = nlohmann::json::object();
  if (!fs::exists(path))
    return found;
  const std::vector<std::byte> bytes = readFile(path);
  for (const std::string& file :
       filesOfRule({reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
    if (!file.starts_with("/proc/"))
      found[fs::path(file).lexically_normal().string()] = hashOfFile(file);
  return found;
}

/// What the compiler and its plugins printed to stdout and to stderr.
struct Printed {
  std::string output, warnings;
};

Printed runCompiler(const Request& request, const fs::path& output, const fs::path& rule) {
  std::vector<std::string> arguments(request.sourceCompiler.begin() + 1,
                                     request.sourceCompiler.end());
  const std::vector<std::byte>& text = request.modules.front();
  // clang's driver writes no rule for the device code of HIP alone.
  if (std::ranges::find(arguments, "--offload-device-only") != arguments.end())
    for (const std::string& word : {std::string("-dependency-file"), rule.string(),
                                    std::string("-MT"), std::string("output")})
      arguments.insert(arguments.end(), {"-Xclang", word});
  else
    arguments.insert(arguments.end(), {"-MMD", "-MF", rule.string()});
  arguments.insert(arguments.end(), {"-o", output.string()});
  arguments.emplace_back(kProgramInput);
  const ProgramResult ended =
      runProgram(pathOfProgram(request.sourceCompiler.front()), arguments,
                 {reinterpret_cast<const char*>(text.data()), text.size()}, 0, Prints::Output);
  if (ended.exitCode != 0 || !fs::exists(output))
    throw Error(ErrorCode::CompileFailed, "'" + request.sourceCompiler.front() +
                                              "' does not compile the source:\n" + ended.output +
                                              ended.messages);
  return {ended.output, ended.messages};
}

} // namespace

std::string pathOfProgram(const std::string& name) {
  if (name.find('/') != std::string::npos)
    return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* value = environmentValue("PATH");
  const std::string path = value ? value : "";
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    std::string file = path.substr(begin, end - begin) + "/" + name;
    if (access(file.c_str(), X_OK) == 0)
      return file;
    begin = end + 1;
  }
  return {};
}

Result compileSource(const Request& request) {
  const WorkDirectory directory;
  const auto start = std::chrono::steady_clock::now();
  Printed printed = runCompiler(request, directory / "output", directory / "rule");
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  Result result;
  if (request.target == kSourceTarget) {
    result.image = readFile(directory / "output");
    result.statisticsJson = "{}";
  } else {
    Request compiled = request;
    compiled.modules.front() = readFile(directory / "output");
    result = compile(compiled);
  }
  result.printed.insert(0, printed.output);
  result.warnings = std::move(printed.warnings);
  nlohmann::json statistics = nlohmann::json::parse(result.statisticsJson);
  statistics["source_time"] = elapsed.count();
  statistics[kDependencies] = dependenciesIn(directory / "rule");
  result.statisticsJson = statistics.dump();
  return result;
}

bool isUpToDate(const Result& result) {
  const nlohmann::json statistics = nlohmann::json::parse(result.statisticsJson, nullptr, false);
  if (!statistics.is_object() || !statistics.contains(kDependencies))
    return true;
  for (const auto& [file, hash] : statistics[kDependencies].items())
    if (hash != hashOfFile(file))
      return false;
  return true;
}

} // namespace mneme::compile
