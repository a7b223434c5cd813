#include "passes/build_facts.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>

namespace mneme::passes {
namespace {

// PassBuilder does not expose what it was created with, and the IR does not show whether the code
// generator fuses operations. The explicit instantiation of a template may name private members.
template <auto Machine, auto Tuning> struct Members {
  friend const llvm::TargetMachine* machineOf(const llvm::PassBuilder& builder) {
    return builder.*Machine;
  }
  friend const llvm::PipelineTuningOptions& tuningOf(const llvm::PassBuilder& builder) {
    return builder.*Tuning;
  }
};
const llvm::TargetMachine* machineOf(const llvm::PassBuilder& builder);
const llvm::PipelineTuningOptions& tuningOf(const llvm::PassBuilder& builder);
template struct Members<&llvm::PassBuilder::TM, &llvm::PassBuilder::PTO>;

/// What follows -O on the compiler's command line.
std::string levelName(llvm::OptimizationLevel level) {
  if (level.getSizeLevel() > 0)
    return level.getSizeLevel() == 1 ? "s" : "z";
  return std::to_string(level.getSpeedupLevel());
}

std::vector<std::string> givenLlvmOptions(llvm::ArrayRef<std::string> arguments) {
  std::vector<std::string> given;
  for (const auto& [name, option] : llvm::cl::getRegisteredOptions())
    if (option->getNumOccurrences() > 0 && !name.starts_with("mneme-") &&
        name != "enable-memcpyopt-without-libcalls")
      given.push_back(givenOption(arguments, name));
  std::sort(given.begin(), given.end());
  return given;
}

} // namespace

BuildFacts factsOf(const llvm::PassBuilder& builder, llvm::OptimizationLevel level) {
  const CompilerArguments arguments = compilerArguments();
  BuildFacts facts{levelName(level),
                   std::nullopt,
                   {},
                   givenLlvmOptions(arguments.own),
                   assemblerFactsOf(arguments.driver)};
  if (const llvm::TargetMachine* machine = machineOf(builder)) {
    facts.fusesEverywhere = machine->Options.AllowFPOpFusion == llvm::FPOpFusion::Fast;
    facts.debugLevel = debugLevelOf(arguments, machine->getTargetTriple().isNVPTX());
  }
  facts.leavesUnset = llvm::any_of(arguments.own, [](llvm::StringRef argument) {
    return argument.starts_with("-ftrivial-auto-var-init=");
  });
  facts.loops = ir::choicesIn(tuningOf(builder), facts.optLevel);
  return facts;
}

} // namespace mneme::passes
