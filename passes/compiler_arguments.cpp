#include "passes/compiler_arguments.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Support/Allocator.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <unistd.h>

namespace mneme::passes {
namespace {

std::string programOf(const std::string& process) {
  llvm::SmallString<256> path;
  return llvm::sys::fs::real_path("/proc/" + process + "/exe", path) ? std::string()
                                                                     : path.str().str();
}

std::vector<std::string> argumentsOf(const std::string& process) {
  auto content = llvm::MemoryBuffer::getFileAsStream("/proc/" + process + "/cmdline");
  if (!content)
    return {};
  llvm::SmallVector<llvm::StringRef, 64> words;
  (*content)->getBuffer().split(words, '\0');
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::SmallVector<const char*, 64> arguments;
  for (llvm::StringRef word : llvm::ArrayRef(words).drop_back()) // each ends with a zero
    arguments.push_back(saver.save(word).data());
  llvm::cl::ExpansionContext files(allocator, llvm::cl::TokenizeGNUCommandLine);
  llvm::consumeError(files.expandResponseFiles(arguments));
  if (arguments.empty())
    return {};
  return {arguments.begin() + 1, arguments.end()};
}

/// Returns whether the argument is an option of the driver that passes the next argument to another
/// tool.
bool takesForeignValue(llvm::StringRef argument) {
  return argument == "-mllvm" || argument == "-Xarch_host" ||
         (argument.starts_with("-X") && argument != "-Xarch_device" &&
          !argument.starts_with("-Xarch_sm_"));
}

/// The level for ptxas that the driver makes of its own; empty if the argument is not a level.
llvm::StringRef levelIn(llvm::StringRef argument) {
  if (!argument.consume_front("-O"))
    return "";
  return llvm::StringSwitch<llvm::StringRef>(argument)
      .Case("", "1")
      .Case("0", "0")
      .Case("1", "1")
      .Case("3", "3")
      .Case("4", "3")
      .Case("fast", "3")
      .Default("2");
}

/// Takes the words for ptxas: "-maxrregcount 32" is one option.
void addAssemblerWord(llvm::StringRef word, AssemblerFacts& facts) {
  if (!word.starts_with("-") && !facts.options.empty())
    facts.options.back() += ("=" + word).str();
  else
    facts.options.push_back(word.str());
}

/// Moves the level out of the options and drops requests for verbose output.
void takeLevel(AssemblerFacts& facts) {
  llvm::erase_if(facts.options, [&](llvm::StringRef option) {
    llvm::StringRef level = option.ltrim('-');
    if (!level.consume_front("opt-level") && !level.consume_front("O"))
      return option == "-v" || option == "--verbose";
    level.consume_front("=");
    facts.level = level.str();
    return true;
  });
}

} // namespace

CompilerArguments compilerArguments() {
  CompilerArguments arguments;
  arguments.own = argumentsOf("self");
  if (arguments.own.empty() || arguments.own.front() != "-cc1") {
    arguments.driver = arguments.own;
    return arguments;
  }
  const std::string parent = std::to_string(getppid());
  if (const std::string program = programOf("self");
      !program.empty() && programOf(parent) == program)
    arguments.driver = argumentsOf(parent);
  return arguments;
}

std::string givenOption(llvm::ArrayRef<std::string> arguments, llvm::StringRef name) {
  std::string given = name.str();
  for (size_t index = 0; index < arguments.size(); ++index) {
    llvm::StringRef argument = arguments[index];
    if (!argument.starts_with("-") || !argument.ltrim('-').starts_with(name))
      continue;
    argument = argument.ltrim('-').drop_front(name.size());
    if (argument.starts_with("=")) // the last one counts
      given = (name + argument).str();
    else if (argument.empty() && index + 2 < arguments.size() && arguments[index + 1] == "-mllvm" &&
             !llvm::StringRef(arguments[index + 2]).starts_with("-"))
      given = (name + "=" + arguments[index + 2]).str();
  }
  return given;
}

AssemblerFacts assemblerFactsOf(llvm::ArrayRef<std::string> driver) {
  AssemblerFacts facts;
  if (driver.empty())
    return facts;
  facts.level = "0"; // the driver's own without any -O
  for (size_t index = 0; index < driver.size(); ++index) {
    if (driver[index] == "-Xcuda-ptxas" && index + 1 < driver.size())
      addAssemblerWord(driver[++index], facts);
    else if (takesForeignValue(driver[index]))
      ++index;
    else if (llvm::StringRef level = levelIn(driver[index]); !level.empty())
      facts.level = level.str();
  }
  takeLevel(facts);
  return facts;
}

} // namespace mneme::passes
