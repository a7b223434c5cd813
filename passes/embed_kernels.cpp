#include "passes/embed_kernels.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/Support/Regex.h>
#include <llvm/Support/xxhash.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <optional>

#include "passes/apply_tuned.h"
#include "passes/device_module.h"
#include "passes/externalize_globals.h"
#include "passes/function_cells.h"
#include "passes/jit_marks.h"
#include "passes/kernel_closure.h"
#include "passes/member_names.h"
#include "passes/module_blob.h"
#include "passes/warning.h"
#include "runtime/compiler/ir/compat.h"
#include "runtime/core/abi/blob_format.h"

namespace mneme::passes {
namespace {

/// Weak, because a template instantiated in two units may leave the same blob twice. The name is
/// that of the content: linkers refuse one name for two sizes.
void emitBlob(llvm::Module& module, const Blob& blob, llvm::StringRef prefix) {
  uint64_t contentHash = llvm::xxh3_64bits(llvm::StringRef(blob.bytes.data(), blob.bytes.size()));
  std::string name = (prefix + llvm::utohexstr(contentHash, true, 16)).str();
  if (module.getNamedValue(name))
    return;
  llvm::Constant* content = llvm::ConstantDataArray::getString(
      module.getContext(), llvm::StringRef(blob.bytes.data(), blob.bytes.size()), false);
  auto* variable = new llvm::GlobalVariable(
      module, content->getType(), true, llvm::GlobalValue::WeakODRLinkage, content, name, nullptr,
      llvm::GlobalValue::NotThreadLocal, kGlobalSpace);
  variable->setAlignment(llvm::Align(8));
  if (compat::moduleTriple(module).isAMDGCN()) {
    variable->setSection(".mneme");
    variable->setVisibility(llvm::GlobalValue::ProtectedVisibility);
  }
  llvm::appendToUsed(module, {variable});
}

std::optional<Blob> blobOf(const Closure& closure, llvm::Module& module,
                           const EmbedOptions& options) {
  std::string error;
  Blob blob = makeBlob(closure, module, options.build, error);
  if (error.empty())
    return blob;
  warn(module, "cannot embed '" + readableName(closure.kernel) + "': " + error);
  return std::nullopt;
}

/// What is embedded is the code as it was written: this comes behind.
bool applyFile(llvm::Module& module,
               llvm::ArrayRef<std::pair<llvm::Function*, CodeIdentity>> hashes,
               const EmbedOptions& options) {
  std::string error;
  tuned::File file = readTunedFile(options.tuned, error);
  if (!error.empty()) {
    fail(module, error);
    return false;
  }
  for (const std::string& warning : file.warnings)
    warn(module, warning);
  bool changed = false;
  for (const auto& [kernel, identity] : hashes)
    changed |= applyTuned(*kernel, identity, file, options.build);
  return changed;
}

/// The marks of kernels. Those in other functions have no effect, but for the attribute, which is
/// refused there.
llvm::MapVector<llvm::Function*, Marks> marksOf(llvm::Module& module, bool marksAll) {
  llvm::MapVector<llvm::Function*, Marks> marks;
  if (marksAll)
    for (llvm::Function* kernel : findKernels(module))
      marks[kernel];
  else
    marks = readMarks(module, isKernel);
  return marks;
}

llvm::DenseMap<const llvm::Function*, SourcePlace>
placesOf(llvm::ArrayRef<llvm::Function*> kernels) {
  llvm::DenseMap<const llvm::Function*, SourcePlace> places;
  for (const llvm::Function* kernel : kernels)
    if (std::optional<SourcePlace> place = placeOf(*kernel))
      places.try_emplace(kernel, std::move(*place));
  return places;
}

bool holdsBlobs(const llvm::Module& module) {
  return llvm::any_of(module.globals(), [](const llvm::GlobalVariable& variable) {
    return variable.getName().starts_with(embed::kKernelSymbolPrefix) ||
           variable.getName().starts_with(embed::kModuleSymbolPrefix);
  });
}

} // namespace

bool embedKernels(llvm::Module& module, const EmbedOptions& options) {
  if (!isDeviceModule(module) || holdsBlobs(module))
    return false;
  llvm::Regex filter(options.kernels.empty() ? "." : options.kernels);
  if (std::string reason; !filter.isValid(reason)) {
    fail(module,
         "'" + options.kernels + "' is not a regular expression for kernel names: " + reason);
    return false;
  }
  llvm::SmallVector<llvm::Function*> chosen;
  for (llvm::Function* kernel : findKernels(module))
    if (filter.match(readableName(kernel->getName())))
      chosen.push_back(kernel);

  const llvm::DenseMap<const llvm::Function*, SourcePlace> places = placesOf(chosen);
  const llvm::MapVector<llvm::Function*, Marks> marks = marksOf(module, options.marksAll);
  llvm::DenseMap<const llvm::Function*, llvm::SmallVector<const llvm::DIType*>> types;
  for (const llvm::Function* kernel : chosen)
    types[kernel] = argumentTypes(*kernel);
  bool changed = lowerDebugInfo(module, options.build.debugLevel);
  changed |= eraseAnnotations(module);
  changed |= eraseMarkCalls(module);
  changed |= definePureVirtual(module);
  const bool hasCells = addFunctionCells(module);
  changed |= hasCells;
  if (!chosen.empty() || hasCells)
    changed |= externalizeGlobals(module);
  // Every closure is cut before the first blob is added, so that none holds another's blob.
  llvm::SmallVector<Blob, 0> blobs;
  llvm::SmallVector<std::pair<llvm::Function*, CodeIdentity>> hashes;
  for (llvm::Function* kernel : chosen) {
    Closure closure = extractKernel(*kernel);
    if (const auto found = marks.find(kernel); found != marks.end())
      closure.marks = found->second;
    closure.argTypes = types.lookup(kernel);
    if (const auto found = places.find(kernel); found != places.end())
      closure.place = found->second;
    if (std::optional<Blob> blob = blobOf(closure, module, options)) {
      hashes.emplace_back(kernel, CodeIdentity{blob->staticHash, blob->codeHash});
      blobs.push_back(std::move(*blob));
    }
  }
  std::optional<Blob> shared;
  if (Closure code = extractSharedCode(module); code.module)
    shared = blobOf(code, module, options);
  for (const Blob& blob : blobs)
    emitBlob(module, blob, embed::kKernelSymbolPrefix);
  if (shared)
    emitBlob(module, *shared, embed::kModuleSymbolPrefix);
  changed |= !blobs.empty() || shared;
  if (!options.tuned.empty() && !hashes.empty())
    changed |= applyFile(module, hashes, options);
  return changed;
}

llvm::PreservedAnalyses EmbedKernelsPass::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  return embedKernels(module, options_) ? llvm::PreservedAnalyses::none()
                                        : llvm::PreservedAnalyses::all();
}

} // namespace mneme::passes
