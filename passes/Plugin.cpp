// Room passes: the one place where passes are registered.
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/CommandLine.h>

#include "passes/embed_kernels.h"
#include "passes/llvm_compat.h"
#include "passes/register_kernels.h"
#include "passes/route_launches.h"

namespace mneme::passes {
namespace {

// Known to the compiler when it loads the plugin before it reads its options:
// -fplugin=<plugin> -fpass-plugin=<plugin> -mllvm -mneme-kernels=<regex>.
llvm::cl::opt<std::string>
    kernelFilter("mneme-kernels",
                 llvm::cl::desc("Regular expression searched in demangled kernel names: which "
                                "kernels mneme embeds (default: every kernel)"),
                 llvm::cl::init(""));

bool parseEmbed(llvm::StringRef name, EmbedOptions& options) {
  if (!name.consume_front("mneme-embed"))
    return false;
  if (name.empty())
    return true;
  if (!name.consume_front("<kernels=") || !name.consume_back(">"))
    return false;
  options.kernels = name.str();
  return true;
}

bool parsePass(llvm::StringRef name, llvm::ModulePassManager& manager,
               llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
  EmbedOptions options;
  if (parseEmbed(name, options))
    manager.addPass(EmbedKernelsPass(std::move(options)));
  else if (name == "mneme-launch")
    manager.addPass(RouteLaunchesPass());
  else if (name == "mneme-register")
    manager.addPass(RegisterKernelsPass());
  else
    return false;
  return true;
}

void addAll(llvm::ModulePassManager& manager) {
  manager.addPass(EmbedKernelsPass(EmbedOptions{kernelFilter}));
  manager.addPass(RouteLaunchesPass());
  manager.addPass(RegisterKernelsPass());
}

void registerPasses(llvm::PassBuilder& builder) {
  compat::registerAtPipelineStart(builder, addAll);
  builder.registerPipelineParsingCallback(parsePass);
}

} // namespace
} // namespace mneme::passes

extern "C" [[gnu::visibility("default")]] ::llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "mneme", MNEME_VERSION, mneme::passes::registerPasses};
}
