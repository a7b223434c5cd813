#include "passes/debug_level.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "runtime/compiler/ir/compat.h"

namespace mneme::passes {
namespace {

// LLVM has no setter. The explicit instantiation of a template may name private members.
template <auto Kind> struct Member {
  friend unsigned& emissionKindOf(llvm::DICompileUnit& unit) { return unit.*Kind; }
};
unsigned& emissionKindOf(llvm::DICompileUnit& unit);
template struct Member<&llvm::DICompileUnit::EmissionKind>;

/// Remarks and their like need source locations even where debug information is off.
bool asksForLocations(llvm::StringRef argument) {
  return argument.starts_with("-Rpass") || argument.starts_with("-opt-record-") ||
         argument.starts_with("-fsave-optimization-record") ||
         argument.starts_with("-foptimization-record-") ||
         argument.starts_with("-fprofile-sample-use") || argument.starts_with("-stack-usage-file");
}

DebugLevel withoutDebugInfo(llvm::ArrayRef<std::string> arguments) {
  return llvm::any_of(arguments, asksForLocations) ? DebugLevel::Locations : DebugLevel::None;
}

/// The level that the driver gave to `clang -cc1`.
DebugLevel levelOfFrontEnd(llvm::ArrayRef<std::string> arguments) {
  llvm::SmallVector<llvm::StringRef> kinds;
  for (llvm::StringRef argument : arguments)
    if (argument.starts_with("-debug-info-kind="))
      kinds.push_back(argument);
  if (kinds.empty() || kinds.back() != kTypesOption)
    return DebugLevel::Full;
  while (!kinds.empty() && kinds.back() == kTypesOption)
    kinds.pop_back();
  if (kinds.empty())
    return withoutDebugInfo(arguments);
  return llvm::StringSwitch<DebugLevel>(kinds.back())
      .Case("-debug-info-kind=line-tables-only", DebugLevel::Lines)
      .Case("-debug-info-kind=line-directives-only", DebugLevel::Directives)
      .Default(DebugLevel::Full);
}

/// What -g, -g1, -ggdb3, -gdwarf-4 and their like ask for; nothing for other options.
std::optional<DebugLevel> levelNamed(llvm::StringRef option) {
  if (option == "-gline-directives-only")
    return DebugLevel::Directives;
  if (option == "-gline-tables-only" || option == "-gmlt")
    return DebugLevel::Lines;
  if (!option.consume_front("-g"))
    return std::nullopt;
  if (option.consume_front("dwarf"))
    return DebugLevel::Full;
  option.consume_front("gdb");
  return llvm::StringSwitch<std::optional<DebugLevel>>(option)
      .Case("", DebugLevel::Full)
      .Case("0", DebugLevel::None)
      .Case("1", DebugLevel::Lines)
      .Case("2", DebugLevel::Full)
      .Case("3", DebugLevel::Full)
      .Default(std::nullopt);
}

/// Returns the level for a driver that compiles in its own process, as it does for a single job.
DebugLevel levelOfDriver(llvm::ArrayRef<std::string> arguments, bool isForNvidia) {
  if (!llvm::is_contained(arguments, kTypesOption))
    return DebugLevel::Full;
  DebugLevel level = DebugLevel::None;
  bool isOptimized = false, isUnoptimizedForDebugging = false;
  for (llvm::StringRef argument : arguments) {
    level = levelNamed(argument).value_or(level);
    if (argument.starts_with("-O"))
      isOptimized = argument != "-O0";
    isUnoptimizedForDebugging |= argument == "--cuda-noopt-device-debug";
  }
  if (level == DebugLevel::None)
    return withoutDebugInfo(arguments);
  const bool hasLines = level == DebugLevel::Full || level == DebugLevel::Lines;
  return isForNvidia && hasLines && isOptimized && !isUnoptimizedForDebugging
             ? DebugLevel::Directives
             : level;
}

void dropFlags(llvm::Module& module, llvm::ArrayRef<llvm::StringRef> names) {
  llvm::NamedMDNode* flags = module.getModuleFlagsMetadata();
  if (!flags)
    return;
  llvm::SmallVector<llvm::MDNode*> kept;
  for (llvm::MDNode* flag : flags->operands())
    if (const auto* name = llvm::dyn_cast<llvm::MDString>(flag->getOperand(1));
        !name || !llvm::is_contained(names, name->getString()))
      kept.push_back(flag);
  flags->clearOperands();
  for (llvm::MDNode* flag : kept)
    flags->addOperand(flag);
  if (kept.empty())
    flags->eraseFromParent();
}

llvm::DICompileUnit::DebugEmissionKind emissionKindFor(DebugLevel level) {
  if (level == DebugLevel::Directives)
    return llvm::DICompileUnit::DebugDirectivesOnly;
  return level == DebugLevel::Lines ? llvm::DICompileUnit::LineTablesOnly
                                    : llvm::DICompileUnit::NoDebug;
}

} // namespace

DebugLevel debugLevelOf(const CompilerArguments& arguments, bool isForNvidia) {
  if (arguments.own.empty())
    return DebugLevel::Full;
  return arguments.own.front() == "-cc1" ? levelOfFrontEnd(arguments.own)
                                         : levelOfDriver(arguments.own, isForNvidia);
}

bool lowerDebugInfo(llvm::Module& module, DebugLevel level) {
  constexpr llvm::StringRef kTracking = "debug-info-assignment-tracking";
  if (level == DebugLevel::Full || module.debug_compile_units().empty())
    return false;
  if (level == DebugLevel::None) {
    llvm::StripDebugInfo(module);
    dropFlags(module, {"Debug Info Version", "Dwarf Version", "CodeView", kTracking});
    return true;
  }
  llvm::stripNonLineTableDebugInfo(module);
  for (llvm::DICompileUnit* unit : module.debug_compile_units())
    emissionKindOf(*unit) = emissionKindFor(level);
  if (level == DebugLevel::Locations)
    dropFlags(module, {"Dwarf Version", "CodeView", kTracking});
  else
    dropFlags(module, {kTracking});
  return true;
}

llvm::PreservedAnalyses LowerDebugInfoPass::run(llvm::Module& module,
                                                llvm::ModuleAnalysisManager&) {
  const bool isForNvidia = compat::moduleTriple(module).isNVPTX();
  return lowerDebugInfo(module, debugLevelOf(compilerArguments(), isForNvidia))
             ? llvm::PreservedAnalyses::none()
             : llvm::PreservedAnalyses::all();
}

} // namespace mneme::passes
