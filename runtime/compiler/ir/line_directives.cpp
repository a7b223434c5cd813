#include "runtime/compiler/ir/line_directives.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugInfo.h>

namespace mneme::ir {

namespace {

using llvm::DICompileUnit;

DICompileUnit* withLineDirectives(llvm::Module& module, const DICompileUnit& unit) {
  llvm::DIBuilder builder(module);
  DICompileUnit* made = builder.createCompileUnit(
      unit.getSourceLanguage(), unit.getFile(), unit.getProducer(), unit.isOptimized(),
      unit.getFlags(), unit.getRuntimeVersion(), unit.getSplitDebugFilename(),
      DICompileUnit::DebugDirectivesOnly, 0, unit.getSplitDebugInlining(), false,
      DICompileUnit::DebugNameTableKind::None);
  builder.finalize();
  return made;
}

} // namespace

bool keepLineDirectives(llvm::Module& module) {
  llvm::NamedMDNode* units = module.getNamedMetadata("llvm.dbg.cu");
  if (!units || units->getNumOperands() == 0)
    return false;
  llvm::stripNonLineTableDebugInfo(module);
  llvm::DebugInfoFinder finder;
  finder.processModule(module);
  llvm::MapVector<const DICompileUnit*, DICompileUnit*> replacements;
  for (const DICompileUnit* unit : finder.compile_units())
    replacements[unit] = nullptr;
  units->clearOperands();
  for (auto& [unit, replacement] : replacements)
    replacement = withLineDirectives(module, *unit);
  for (llvm::DISubprogram* function : finder.subprograms())
    if (const auto found = replacements.find(function->getUnit()); found != replacements.end())
      function->replaceUnit(found->second);
  return true;
}

} // namespace mneme::ir
