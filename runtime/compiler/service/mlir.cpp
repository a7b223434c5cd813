#include "runtime/compiler/service/mlir.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "runtime/compiler/assembler/subprocess.h"
#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

constexpr int kSignalBase = 128; // of ProgramResult::exitCode

/// Replaces the name of a temporary file in messages: "line 3:10: error: ..."
constexpr const char* kLine = "line ";

std::string withReplaced(const std::string& text, const std::string& from, const std::string& to) {
  std::string result;
  size_t begin = 0;
  for (size_t at = 0; (at = text.find(from, begin)) != std::string::npos; begin = at + from.size())
    result.append(text, begin, at - begin).append(to);
  return result.append(text, begin);
}

std::string failureOf(const std::string& program, ProgramResult ended) {
  std::string& messages = ended.messages;
  while (messages.ends_with('\n'))
    messages.pop_back();
  if (ended.exitCode > kSignalBase)
    return "'" + program + "' died of signal " + std::to_string(ended.exitCode - kSignalBase) +
           (messages.empty() ? "" : ":\n" + messages);
  return messages.empty() ? "'" + program + "' fails without a message" : messages;
}

/// What a program makes of `text`. \throws Error{CompileFailed}
std::string outputOf(const std::string& program, std::vector<std::string> arguments,
                     const std::string& text) {
  arguments.emplace_back(kProgramInput);
  ProgramResult ended = runProgram(program, arguments, text, 0, Prints::Output);
  if (ended.exitCode == 0)
    return std::move(ended.output);
  for (const std::string file : {kProgramInput, kLine})
    ended.messages = withReplaced(ended.messages, file + ":", kLine);
  // Where notes quote a place.
  ended.messages = withReplaced(ended.messages, kProgramInput, "the module");
  throw Error(ErrorCode::CompileFailed, failureOf(program, std::move(ended)));
}

/// A kernel that says nothing of its blocks may be launched with any: the default of clang for HIP,
/// where MLIR's own would be 256 threads.
std::string withAnyBlock(std::string_view line) {
  constexpr std::string_view kernel = "rocdl.kernel";
  std::string text(line);
  const size_t at = text.rfind(kernel);
  if (line.starts_with("    llvm.func @") && at != std::string::npos &&
      text.find("rocdl.flat_work_group_size") == std::string::npos)
    text.insert(at, "rocdl.flat_work_group_size = \"1,1024\", ");
  return text;
}

/// What is in the one gpu.module, as a module of its own. mlir-opt indents what is at the top by
/// two blanks, and ends strings where their line ends.
std::string gpuModuleOf(std::string_view text) {
  std::string found;
  int count = 0;
  bool isInside = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("{-#")) { // constants, to the end of the text
      found += text.substr(end - line.size());
      break;
    }
    if (line.starts_with("  gpu.module ")) {
      isInside = line.ends_with("{");
      ++count;
      found += isInside ? "module {\n" : "module {\n}\n";
    } else if (isInside) {
      isInside = line != "  }" && !line.starts_with("  } loc(");
      found += isInside ? withAnyBlock(line) + "\n" : "}\n";
    }
  }
  if (count != 1)
    throw Error(ErrorCode::CompileFailed,
                "the module has " + (count ? std::to_string(count) : std::string("no")) +
                    " gpu.module" + (count ? "s" : "") +
                    " at its top; kernels lie in exactly one, of any name");
  return found;
}

/// With the lines of the user's text in it, which the second program names then.
std::string afterPasses(const MlirLowering& mlir, const std::string& pipeline,
                        const std::string& code) {
  std::string text = outputOf(mlir.opt,
                              {"--mlir-disable-threading", "--mlir-print-local-scope",
                               "--mlir-print-debuginfo", "--pass-pipeline=" + pipeline},
                              code);
  const std::string location = "loc(\"";
  text = withReplaced(text, location + kProgramInput + "\":", location + kLine + "\":");
  return mlir.isForGpu ? gpuModuleOf(text) : text;
}

} // namespace

std::string lowerMlir(const Request& request) {
  const MlirLowering& mlir = request.mlir;
  const auto* begin = reinterpret_cast<const char*>(request.modules.front().data());
  const std::string code(begin, request.modules.front().size());
  std::string failure;
  for (const std::string& pipeline : mlir.pipelines)
    try {
      return outputOf(mlir.translate, {"--mlir-to-llvmir"}, afterPasses(mlir, pipeline, code));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::CompileFailed)
        throw;
      failure = error.what();
    }
  throw Error(ErrorCode::CompileFailed, failure);
}

Result compileMlir(const Request& request) {
  const std::string text = lowerMlir(request);
  Request lowered = request;
  lowered.mlir = {};
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  lowered.modules.front().assign(begin, begin + text.size());
  return compile(lowered);
}

} // namespace mneme::compile
