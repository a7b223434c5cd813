// Room passes: the one place where passes are registered.
#include <llvm/ADT/StringRef.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>

#include "passes/build_facts.h"
#include "passes/embed_kernels.h"
#include "passes/host_functions.h"
#include "passes/jit_unit.h"
#include "passes/launch_padding.h"
#include "passes/register_kernels.h"
#include "passes/route_launches.h"
#include "passes/tuned_body.h"
#include "passes/zero_locals.h"
#include "runtime/compiler/ir/compat.h"

namespace mneme::passes {
namespace {

// -fpass-plugin=<plugin> -mllvm -mneme-kernels=<regex>. A clang that loads pass plugins only after
// it has read its options (19) needs -fplugin=<plugin> as well.
llvm::cl::opt<std::string>
    kernelFilter("mneme-kernels",
                 llvm::cl::desc("Regular expression searched in demangled kernel names: which "
                                "kernels mneme embeds (default: every kernel)"),
                 llvm::cl::init(""));

llvm::cl::opt<std::string>
    tunedFile("mneme-tuned",
              llvm::cl::desc("File of tuned kernels to apply as far as an ahead-of-time build can"),
              llvm::cl::init(""));

llvm::cl::opt<bool>
    marksAll("force-proteus-jit-annotate-all",
             llvm::cl::desc("Every kernel is compiled at run time, as if it had annotate(\"jit\")"),
             llvm::cl::init(false));

bool parseEmbed(llvm::StringRef name, EmbedOptions& options) {
  if (!name.consume_front("mneme-embed"))
    return false;
  if (name.empty())
    return true;
  if (!name.consume_back(">"))
    return false;
  if (name.consume_front("<kernels="))
    options.kernels = name.str();
  else if (name.consume_front("<tuned="))
    options.tuned = name.str();
  else
    return false;
  options.build.optLevel = options.tuned.empty() ? "" : "3";
  return true;
}

bool parsePass(llvm::StringRef name, llvm::ModulePassManager& manager,
               llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
  EmbedOptions options;
  if (parseEmbed(name, options))
    manager.addPass(EmbedKernelsPass(std::move(options)));
  else if (name == "mneme-zero-locals")
    manager.addPass(ZeroLocalsPass());
  else if (name == "mneme-host-functions")
    manager.addPass(HostFunctionsPass());
  else if (name == "mneme-launch-padding")
    manager.addPass(ClearLaunchPaddingPass());
  else if (name == "mneme-launch")
    manager.addPass(RouteLaunchesPass());
  else if (name == "mneme-place-tuned")
    manager.addPass(PlaceTunedBodiesPass());
  else if (name == "mneme-jit-unit")
    manager.addPass(NoteJitUnitPass(false));
  else if (name == "mneme-register")
    manager.addPass(RegisterKernelsPass());
  else
    return false;
  return true;
}

void addAll(llvm::ModulePassManager& manager, BuildFacts build) {
  if (!build.leavesUnset)
    manager.addPass(ZeroLocalsPass());
  manager.addPass(
      EmbedKernelsPass(EmbedOptions{kernelFilter, tunedFile, std::move(build), marksAll}));
  manager.addPass(LowerDebugInfoPass()); // what no kernel is embedded from
  manager.addPass(ClearLaunchPaddingPass());
  manager.addPass(NoteJitUnitPass(marksAll));
  manager.addPass(HostFunctionsPass(marksAll));
  manager.addPass(RouteLaunchesPass());
  manager.addPass(RegisterKernelsPass());
}

void registerPasses(llvm::PassBuilder& builder) {
  builder.registerPipelineStartEPCallback(
      [&builder](llvm::ModulePassManager& manager, llvm::OptimizationLevel level) {
        addAll(manager, factsOf(builder, level));
      });
  builder.registerPipelineParsingCallback(parsePass);
  // The phase of link-time optimisation came with LLVM 20.
  builder.registerOptimizerLastEPCallback(
      [](llvm::ModulePassManager& manager, llvm::OptimizationLevel, auto... /*phase*/) {
        manager.addPass(PlaceTunedBodiesPass());
      });
}

} // namespace
} // namespace mneme::passes

extern "C" [[gnu::visibility("default")]] ::llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "mneme", MNEME_VERSION, mneme::passes::registerPasses};
}
