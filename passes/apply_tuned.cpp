#include "passes/apply_tuned.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "passes/device_module.h"
#include "passes/kernel_metadata.h"
#include "passes/tuned_body.h"
#include "passes/warning.h"
#include "runtime/compiler/ir/compat.h"
#include "runtime/compiler/ir/pipeline_tuning.h"

namespace mneme::passes {
namespace {

// Registers of a multiprocessor, the same on every GPU since sm_50; they are given to warps of 32
// threads in portions of 8 per thread. A thread has no more than 255.
constexpr uint64_t kRegistersPerMultiprocessor = 65536;
constexpr uint64_t kWarpThreads = 32;
constexpr uint64_t kRegisterPortion = 8;
constexpr uint64_t kMaxRegisters = 255;
constexpr uint64_t kMaxThreads = 1 << 20; // beyond every GPU's
// The one of the knobs that change the code alone which ahead-of-time builds obey (registersOf).
constexpr llvm::StringRef kObeyed = "max_registers";

/// Texts of what an ahead-of-time build leaves undone, each once.
struct Leftovers {
  std::vector<std::string> texts;
  void insert(const std::string& text) {
    if (!llvm::is_contained(texts, text))
      texts.push_back(text);
  }
};

/// Counts threads of a shape; a file that says nonsense counts as the most that can be counted.
uint64_t threadsOf(const mneme_dim3& dims) {
  uint64_t product = 1;
  for (uint64_t axis : {dims.x, dims.y, dims.z})
    product = std::min(product * axis, kMaxThreads);
  return product;
}

/// The variants for this architecture.
std::vector<const tuned::Variant*> variantsOf(llvm::ArrayRef<tuned::Variant> all,
                                              const llvm::Function& kernel) {
  llvm::StringRef arch = kernel.getFnAttribute("target-cpu").getValueAsString();
  std::vector<const tuned::Variant*> result;
  for (const tuned::Variant& variant : all)
    if (!variant.guards.arch || arch.empty() || variant.match.arch == arch.str())
      result.push_back(&variant);
  return result;
}

/// What launch bounds make of the registers of a variant; no limit is kMaxRegisters.
uint64_t registersOf(const tuned::Variant& variant) {
  uint64_t limit = kMaxRegisters;
  if (variant.maxRegisters)
    limit = std::min<uint64_t>(limit, variant.maxRegisters);
  uint64_t tuned = std::clamp<int64_t>(variant.tunedMaxThreads, 0, kMaxThreads);
  uint64_t threads = variant.match.block ? threadsOf(*variant.match.block) : tuned;
  if (!variant.launchBounds || threads == 0)
    return limit;
  uint64_t blocks = tuned == 0 || tuned == threads ? variant.minBlocksPerSm : 0;
  uint64_t resident = llvm::alignTo(threads, kWarpThreads) * std::max<uint64_t>(1, blocks);
  uint64_t share = kRegistersPerMultiprocessor / resident / kRegisterPortion * kRegisterPortion;
  return std::min(limit, std::max(share, kRegisterPortion));
}

/// Every pipeline is right for every launch, so one serves all: that of the variant for this very
/// architecture that stands for most of the application's time. None if there is no variant.
std::string pipelineFor(llvm::ArrayRef<const tuned::Variant*> variants, llvm::StringRef arch) {
  const auto rank = [&](const tuned::Variant* variant) {
    const std::string& wanted = variant->match.arch;
    return std::pair(wanted.empty() || wanted == arch.str(), variant->weight);
  };
  const auto best = std::max_element(variants.begin(), variants.end(),
                                     [&](const tuned::Variant* left, const tuned::Variant* right) {
                                       return rank(left) < rank(right);
                                     });
  return best == variants.end() ? "" : (*best)->pipeline;
}

void collectLeftovers(const tuned::Variant& variant, llvm::StringRef pipeline,
                      llvm::StringRef optLevel, Leftovers& leftovers) {
  if (variant.pipeline != pipeline.str())
    leftovers.insert("pipeline '" + variant.pipeline + "' of other launches");
  if (std::to_string(variant.codegenOptLevel) != ir::codegenLevelOf(optLevel))
    leftovers.insert("code generator level " + std::to_string(variant.codegenOptLevel) +
                     " (the program has -O" + optLevel.str() + ")");
#define MNEME_CODE_NUMBER(member, key, otherwise, high, deployed, searched, devices, label, text)  \
  if (variant.member != otherwise && llvm::StringRef(key) != kObeyed)                              \
    leftovers.insert(deployed " " + std::to_string(variant.member));
#define MNEME_CODE_TEXT(member, key, deployed, option, metavar, between, label, text)              \
  if (!variant.member.empty())                                                                     \
    leftovers.insert(label " '" + variant.member + "'");
#include "runtime/core/abi/knobs.def"
  if (variant.specializeArgs)
    leftovers.insert("specialised arguments");
  if (variant.specializeDims)
    leftovers.insert("specialised dimensions");
  if (variant.launch)
    leftovers.insert("other launch dimensions");
}

/// Returns whether the kernel gets code of its own.
bool applyPipeline(llvm::Function& kernel, llvm::StringRef pipeline, const BuildFacts& build) {
  if (pipeline.empty() || pipeline == "default<O" + build.optLevel + ">")
    return false;
  std::string problem = prepareTunedBody(kernel, pipeline, build);
  if (!problem.empty())
    warn(*kernel.getParent(), "'" + readableName(kernel.getName()) +
                                  "' is built with the program's own pipeline, not with '" +
                                  pipeline + "': " + problem);
  return problem.empty();
}

} // namespace

tuned::File readTunedFile(const std::string& path, std::string& error) {
  try {
    tuned::File file = tuned::readFile(path);
    keepOnly(file, tuned::CodeKind::WithIr);
    return file;
  } catch (const std::exception& problem) {
    error = problem.what();
    return {};
  }
}

bool applyTuned(llvm::Function& kernel, const CodeIdentity& identity, const tuned::File& file,
                const BuildFacts& build) {
  const tuned::OfCode entry =
      file.variantsFor(kernel.getName().str(), identity.staticHash, identity.codeHash);
  if (!entry.hasName && entry.variants.empty())
    return false;
  llvm::Module& module = *kernel.getParent();
  std::string name = "'" + readableName(kernel.getName()) + "'";
  const std::vector<tuned::Variant>& ofCode = entry.variants;
  if (ofCode.empty()) {
    warn(module,
         name + " is not the code that was tuned, and is built as it is: record and tune it again");
    return false;
  }
  // One binary serves every launch: the variant that needs most registers says how many.
  uint64_t registers = 0;
  Leftovers leftovers;
  std::vector<const tuned::Variant*> variants = variantsOf(ofCode, kernel);
  std::string pipeline =
      pipelineFor(variants, kernel.getFnAttribute("target-cpu").getValueAsString());
  for (const tuned::Variant* variant : variants) {
    registers = std::max(registers, registersOf(*variant));
    collectLeftovers(*variant, pipeline, build.optLevel, leftovers);
  }
  bool isLimited = registers != 0 && registers < kMaxRegisters;
  if (isLimited && (!compat::moduleTriple(module).isNVPTX() || hasMinBlocks(kernel))) {
    leftovers.insert("launch bounds, beside those of the source or this target");
    isLimited = false;
  }
  if (isLimited)
    compat::setMaxRegisters(kernel, registers);
  bool hasOwnCode = applyPipeline(kernel, pipeline, build);
  if (!leftovers.texts.empty())
    warn(module,
         name + ": left to runs with PROTEUS_TUNED_KERNELS: " + llvm::join(leftovers.texts, ", "));
  return isLimited || hasOwnCode;
}

} // namespace mneme::passes
