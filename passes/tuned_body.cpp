#include "passes/tuned_body.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/MemoryBufferRef.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <memory>
#include <optional>

#include "passes/device_module.h"
#include "passes/kernel_closure.h"
#include "passes/kernel_metadata.h"
#include "passes/tuned_pipeline.h"
#include "passes/warning.h"

namespace mneme::passes {
namespace {

// The metadata with this name has for each kernel its name, its optimised closure as bitcode, and
// the variables that are kept for it.
constexpr char kBodies[] = "mneme.tuned.bodies";

/// Returns variables that the optimised copy needs and the ordinary pipeline may drop.
llvm::SmallVector<llvm::GlobalValue*> discardableGlobals(llvm::Module& module,
                                                         const llvm::Module& closure) {
  llvm::SmallVector<llvm::GlobalValue*> used;
  for (bool isCompilerUsed : {false, true})
    llvm::collectUsedGlobalVariables(module, used, isCompilerUsed);
  llvm::SmallVector<llvm::GlobalValue*> found;
  for (const llvm::GlobalVariable& copy : closure.globals())
    if (copy.hasAvailableExternallyLinkage())
      if (auto* variable = module.getNamedGlobal(copy.getName());
          variable && variable->isDiscardableIfUnused() && !llvm::is_contained(used, variable))
        found.push_back(variable);
  return found;
}

bool holdsOtherKernels(const llvm::Module& closure, llvm::StringRef kernel) {
  return llvm::any_of(closure, [&](const llvm::Function& function) {
    return !function.isDeclaration() && isKernel(function) && function.getName() != kernel;
  });
}

void dropNamedMetadata(llvm::Module& body) {
  llvm::SmallVector<llvm::NamedMDNode*> doomed;
  for (llvm::NamedMDNode& node : body.named_metadata())
    if (node.getName() != "llvm.module.flags" && node.getName() != "llvm.dbg.cu")
      doomed.push_back(&node);
  for (llvm::NamedMDNode* node : doomed)
    body.eraseNamedMetadata(node);
}

/// An optimised copy, and the properties that its kernel has in the unit.
struct Placement {
  std::string kernel;
  std::unique_ptr<llvm::Module> body;
  llvm::GlobalValue::LinkageTypes linkage;
  llvm::GlobalValue::VisibilityTypes visibility;
  llvm::GlobalValue::UnnamedAddr unnamedAddr;
  bool isLocal;
  llvm::Comdat* comdat;
};

/// Reads a copy and takes the kernel's own code away; none if the unit no longer has the kernel.
std::optional<Placement> makeRoom(llvm::Module& module, llvm::StringRef name,
                                  llvm::StringRef bitcode) {
  llvm::Function* ordinary = module.getFunction(name);
  if (!ordinary || ordinary->isDeclaration())
    return std::nullopt;
  llvm::Expected<std::unique_ptr<llvm::Module>> body =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "tuned kernel"), module.getContext());
  if (!body) {
    fail(module, "the tuned code of '" + readableName(name) +
                     "' is lost: " + llvm::toString(body.takeError()));
    return std::nullopt;
  }
  dropNamedMetadata(**body);
  (*body)->setModuleInlineAsm(""); // the unit has it already
  Placement placement{name.str(),
                      std::move(*body),
                      ordinary->getLinkage(),
                      ordinary->getVisibility(),
                      ordinary->getUnnamedAddr(),
                      ordinary->isDSOLocal(),
                      ordinary->getComdat()};
  ordinary->setComdat(nullptr);
  ordinary->deleteBody();
  return placement;
}

void placeBody(llvm::Module& module, Placement& placement) {
  if (llvm::Linker::linkModules(module, std::move(placement.body))) {
    fail(module,
         "the tuned code of '" + readableName(placement.kernel) + "' does not link with its unit");
    return;
  }
  llvm::Function& kernel = *module.getFunction(placement.kernel);
  kernel.setLinkage(placement.linkage);
  kernel.setVisibility(placement.visibility);
  kernel.setUnnamedAddr(placement.unnamedAddr);
  kernel.setDSOLocal(placement.isLocal);
  kernel.setComdat(placement.comdat);
}

/// Erases internal functions and variables that only the replaced code used.
void eraseUnused(llvm::Module& module) {
  llvm::SmallVector<llvm::GlobalValue*> doomed;
  do {
    doomed.clear();
    for (llvm::GlobalValue& global : module.global_values()) {
      global.removeDeadConstantUsers();
      if (global.hasLocalLinkage() && global.use_empty() && !global.getName().starts_with("llvm."))
        doomed.push_back(&global);
    }
    for (llvm::GlobalValue* global : doomed)
      global->eraseFromParent();
  } while (!doomed.empty());
}

/// clang writes relocatable device code for AMD GPUs as bitcode, and gives the option only for
/// other code. The compiler alone has this option, apart from tools for IR, which write no objects.
bool isOptimizedWhenLinked(const llvm::Module& module) {
  if (!llvm::Triple(module.getTargetTriple()).isAMDGCN())
    return false;
  const auto* option = llvm::cl::getRegisteredOptions().lookup("amdgpu-internalize-symbols");
  return option && option->getNumOccurrences() == 0;
}

llvm::StringRef textOf(const llvm::MDNode& node, unsigned index) {
  return llvm::cast<llvm::MDString>(node.getOperand(index))->getString();
}

} // namespace

std::string prepareTunedBody(llvm::Function& kernel, llvm::StringRef pipeline,
                             const BuildFacts& build) {
  llvm::Module& module = *kernel.getParent();
  Closure closure = extractKernel(kernel);
  if (holdsOtherKernels(*closure.module, closure.kernel))
    return "it launches other kernels";
  llvm::SmallVector<llvm::GlobalValue*> needed = discardableGlobals(module, *closure.module);
  Bitcode bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*closure.module, stream);
  const TunedPipeline tuned{pipeline.str(), ownFunctions(closure, module), build.optLevel,
                            build.loops};
  if (std::string problem = optimizeClosure(bitcode, closure.kernel, tuned); !problem.empty())
    return problem;

  llvm::LLVMContext& context = module.getContext();
  llvm::SmallVector<llvm::Metadata*> parts{
      llvm::MDString::get(context, closure.kernel),
      llvm::MDString::get(context, llvm::StringRef(bitcode.data(), bitcode.size()))};
  for (llvm::GlobalValue* variable : needed)
    parts.push_back(llvm::MDString::get(context, variable->getName()));
  llvm::appendToCompilerUsed(module, needed);
  module.getOrInsertNamedMetadata(kBodies)->addOperand(llvm::MDNode::get(context, parts));
  return {};
}

bool placeTunedBodies(llvm::Module& module) {
  llvm::NamedMDNode* bodies = module.getNamedMetadata(kBodies);
  if (!bodies)
    return false;
  llvm::SmallVector<Placement, 0> placements;
  llvm::SmallPtrSet<llvm::Constant*, 8> released;
  for (const llvm::MDNode* node : bodies->operands()) {
    if (auto placement = makeRoom(module, textOf(*node, 0), textOf(*node, 1)))
      placements.push_back(std::move(*placement));
    for (unsigned index = 2; index < node->getNumOperands(); ++index)
      released.insert(module.getNamedValue(textOf(*node, index)));
  }
  module.eraseNamedMetadata(bodies);
  eraseUnused(module);
  const bool isOptimizedAgain = isOptimizedWhenLinked(module);
  for (Placement& placement : placements) {
    placeBody(module, placement);
    if (isOptimizedAgain)
      warn(module, "'" + readableName(placement.kernel) +
                       "' is optimised again when device code is linked (-fgpu-rdc), so it may not "
                       "be as it was tuned; compile its unit without -fgpu-rdc");
  }
  llvm::removeFromUsedLists(module,
                            [&](llvm::Constant* value) { return released.contains(value); });
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(module, &stream))
    fail(module, "tuned kernels make the code of their unit invalid: " + message);
  return true;
}

llvm::PreservedAnalyses PlaceTunedBodiesPass::run(llvm::Module& module,
                                                  llvm::ModuleAnalysisManager&) {
  return placeTunedBodies(module) ? llvm::PreservedAnalyses::none()
                                  : llvm::PreservedAnalyses::all();
}

} // namespace mneme::passes
