// The assembler as a program: ptxas, run on files.
#include <algorithm>
#include <cstdio>
#include <iterator>

#include "runtime/compiler/assembler/assembler.h"
#include "runtime/compiler/assembler/subprocess.h"
#include "runtime/compiler/assembler/usage.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/unnoticed_child.h"

namespace mneme::compile {
namespace {

// The largest kernels take minutes; a program that hangs must not keep its caller for ever.
constexpr unsigned kTimeoutSeconds = 600;
constexpr unsigned kVersionTimeoutSeconds = 30;

/// From "Cuda compilation tools, release 13.0, V13.0.88".
AssemblerVersion versionOf(const std::string& path) {
  ProgramResult answer;
  runUnnoticed([&] { answer = runProgram(path, {"--version"}, "", kVersionTimeoutSeconds); });
  AssemblerVersion version;
  const size_t at = answer.messages.find("release ");
  char full[32] = {};
  if (at == std::string::npos || sscanf(answer.messages.c_str() + at, "release %u.%u, V%31[0-9.]",
                                        &version.major, &version.minor, full) < 2)
    throw Error(ErrorCode::BackendUnavailable,
                "'" + path +
                    "' does not tell its version as ptxas does; set MNEME_PTXAS to ptxas "
                    "or MNEME_ASSEMBLER to driver");
  version.name = std::string("ptxas ") +
                 (*full ? std::string(full)
                        : std::to_string(version.major) + "." + std::to_string(version.minor));
  return version;
}

class Ptxas final : public Assembler {
public:
  explicit Ptxas(std::string path) : path_(std::move(path)), version_(versionOf(path_)) {}

  const AssemblerVersion& version() const override { return version_; }

  Assembly assemble(const AssemblyRequest& request) const override {
    std::vector<std::string> arguments = {"-v", "-arch=" + request.arch,
                                          "-O" + std::to_string(request.optLevel)};
    if (request.maxRegisters != 0)
      arguments.push_back("--maxrregcount=" + std::to_string(request.maxRegisters));
    std::transform(request.options.begin(), request.options.end(), std::back_inserter(arguments),
                   optionForTool);
    arguments.insert(arguments.end(), {kProgramInput, "-o", kProgramOutput});
    ProgramResult result = runProgram(path_, arguments, request.ptx, kTimeoutSeconds);
    throwIfFailed(result, request);
    Assembly assembly;
    assembly.usage = usageInMessages(result.messages, request.kernel);
    assembly.cubin = std::move(result.output);
    addUsageInCubin(assembly.usage, assembly.cubin, request.kernel);
    return assembly;
  }

private:
  void throwIfFailed(const ProgramResult& result, const AssemblyRequest& request) const {
    // The exit code is unknown if the application waits for all its children, so the image decides.
    const bool isElf = result.output.rfind("\177ELF", 0) == 0;
    if (!result.isTimedOut && result.exitCode <= 0 && isElf)
      return;
    const std::string what = "kernel '" + request.kernel + "' cannot be assembled for " +
                             request.arch + " by " + version_.name + ": ";
    if (result.isTimedOut)
      throw Error(ErrorCode::CompileFailed,
                  what + "no end after " + std::to_string(kTimeoutSeconds) + " s");
    const std::string errors = firstErrors(result.messages);
    if (result.exitCode > 128 && result.exitCode < 160)
      throw Error(ErrorCode::CompileFailed, what + "it died of signal " +
                                                std::to_string(result.exitCode - 128) +
                                                (errors.empty() ? "" : "; " + errors));
    throw Error(ErrorCode::CompileFailed,
                what + (errors.empty() ? "exit code " + std::to_string(result.exitCode) : errors));
  }

  std::string path_;
  AssemblerVersion version_;
};

} // namespace

std::shared_ptr<const Assembler> openPtxas(const std::string& path) {
  return std::make_shared<Ptxas>(path);
}

} // namespace mneme::compile
