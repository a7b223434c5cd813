#include "passes/apply_tuned.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <vector>

#include "passes/device_module.h"
#include "passes/kernel_metadata.h"
#include "passes/tuned_body.h"
#include "passes/warning.h"
#include "runtime/compile/llvm_compat.h"

namespace mneme::passes {
namespace {

using llvm::json::Object;

// Registers of a multiprocessor, the same on every GPU since sm_50; they are given to warps of 32
// threads in portions of 8 per thread. A thread has no more than 255.
constexpr uint64_t kRegistersPerMultiprocessor = 65536;
constexpr uint64_t kWarpThreads = 32;
constexpr uint64_t kRegisterPortion = 8;
constexpr uint64_t kMaxRegisters = 255;

/// Texts of what an ahead-of-time build leaves undone, each once.
struct Leftovers {
  std::vector<std::string> texts;
  void insert(const std::string& text) {
    if (!llvm::is_contained(texts, text))
      texts.push_back(text);
  }
};

uint64_t numberOf(const Object& object, llvm::StringRef key) {
  return std::max<int64_t>(0, object.getInteger(key).value_or(0));
}

uint64_t threadsOf(const Object* dims) {
  if (!dims)
    return 0;
  uint64_t product = 1;
  for (llvm::StringRef axis : {"x", "y", "z"})
    product *= std::max<uint64_t>(1, numberOf(*dims, axis));
  return product;
}

bool hasGuard(const Object& variant, llvm::StringRef name) {
  const llvm::json::Array* guards = variant.getArray("Guards");
  return guards && llvm::any_of(*guards, [&](const llvm::json::Value& guard) {
           return guard.getAsString() == name;
         });
}

/// The variants for this architecture; an entry without "Mneme" is its only variant.
std::vector<const Object*> variantsOf(const Object& entry, const llvm::Function& kernel) {
  const Object* ours = entry.getObject("Mneme");
  if (!ours)
    return {&entry};
  llvm::StringRef arch = kernel.getFnAttribute("target-cpu").getValueAsString();
  std::vector<const Object*> result;
  if (const llvm::json::Array* variants = ours->getArray("Variants"))
    for (const llvm::json::Value& value : *variants)
      if (const Object* variant = value.getAsObject()) {
        const Object* match = variant->getObject("Match");
        llvm::StringRef wanted = match ? match->getString("Arch").value_or("") : "";
        if (wanted.empty() || arch.empty() || wanted == arch || !hasGuard(*variant, "Arch"))
          result.push_back(variant);
      }
  return result;
}

/// What launch bounds make of the registers of a variant; no limit is kMaxRegisters.
uint64_t registersOf(const Object& variant) {
  uint64_t limit = kMaxRegisters;
  if (uint64_t wanted = numberOf(variant, "MaxRegisters"))
    limit = std::min(limit, wanted);
  const Object* match = variant.getObject("Match");
  uint64_t threads = threadsOf(match ? match->getObject("BlockDim") : nullptr);
  uint64_t tuned = numberOf(variant, "TunedMaxThreads");
  threads = threads ? threads : tuned;
  if (!variant.getBoolean("LaunchBounds").value_or(true) || threads == 0)
    return limit;
  uint64_t blocks = tuned == 0 || tuned == threads ? numberOf(variant, "MinBlocksPerSM") : 0;
  uint64_t resident = llvm::alignTo(threads, kWarpThreads) * std::max<uint64_t>(1, blocks);
  uint64_t share = kRegistersPerMultiprocessor / resident / kRegisterPortion * kRegisterPortion;
  return std::min(limit, std::max(share, kRegisterPortion));
}

std::string pipelineOf(const Object& variant) {
  if (std::optional<llvm::StringRef> pipeline = variant.getString("Pipeline"))
    return pipeline->str();
  std::string level = "3"; // a number in "OptLevel" does not count
  if (std::optional<llvm::StringRef> text = variant.getString("OptLevel"))
    level = text->str();
  return "default<O" + level + ">";
}

/// Every pipeline is right for every launch, so one serves all: that of the variant for this very
/// architecture that stands for most of the application's time. None if there is no variant.
std::string pipelineFor(llvm::ArrayRef<const Object*> variants, llvm::StringRef arch) {
  const auto rank = [&](const Object* variant) {
    const Object* match = variant->getObject("Match");
    llvm::StringRef wanted = match ? match->getString("Arch").value_or("") : "";
    return std::pair(wanted.empty() || wanted == arch, variant->getNumber("Weight").value_or(0));
  };
  const auto best = std::max_element(
      variants.begin(), variants.end(),
      [&](const Object* left, const Object* right) { return rank(left) < rank(right); });
  return best == variants.end() ? "" : pipelineOf(**best);
}

/// clang's own choice for -O<level>.
int64_t codegenLevelOf(llvm::StringRef optLevel) {
  unsigned level = 0;
  return optLevel.getAsInteger(10, level) ? 2 : level;
}

void collectLeftovers(const Object& variant, llvm::StringRef pipeline, llvm::StringRef optLevel,
                      Leftovers& leftovers) {
  if (std::string own = pipelineOf(variant); own != pipeline)
    leftovers.insert("pipeline '" + own + "' of other launches");
  int64_t level = variant.getInteger("CodeGenOptLevel").value_or(3);
  if (level != codegenLevelOf(optLevel))
    leftovers.insert("code generator level " + std::to_string(level) + " (the program has -O" +
                     optLevel.str() + ")");
  if (variant.getBoolean("SpecializeArgs").value_or(false))
    leftovers.insert("specialised arguments");
  if (variant.getBoolean("SpecializeDims").value_or(true))
    leftovers.insert("specialised dimensions");
  if (variant.getObject("Launch"))
    leftovers.insert("other launch dimensions");
}

/// Returns whether the kernel gets code of its own.
bool applyPipeline(llvm::Function& kernel, llvm::StringRef pipeline, llvm::StringRef optLevel) {
  if (pipeline.empty() || pipeline == ("default<O" + optLevel + ">").str())
    return false;
  std::string problem = prepareTunedBody(kernel, pipeline);
  if (!problem.empty())
    warn(*kernel.getParent(), "'" + readableName(kernel.getName()) +
                                  "' is built with the program's own pipeline, not with '" +
                                  pipeline + "': " + problem);
  return problem.empty();
}

bool isStale(const Object& entry, uint64_t staticHash) {
  const Object* ours = entry.getObject("Mneme");
  uint64_t tuned = 0;
  return ours && ours->getString("StaticHash") &&
         (ours->getString("StaticHash")->getAsInteger(16, tuned) || tuned != staticHash);
}

} // namespace

llvm::json::Value readTunedFile(llvm::StringRef path, std::string& error) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    error = "cannot read '" + path.str() + "': " + buffer.getError().message();
    return nullptr;
  }
  llvm::Expected<llvm::json::Value> value = llvm::json::parse((*buffer)->getBuffer());
  if (value && value->getAsObject())
    return std::move(*value);
  error = "'" + path.str() + "' is no file of tuned kernels: " +
          (value ? "it holds no JSON object" : llvm::toString(value.takeError()));
  return nullptr;
}

bool applyTuned(llvm::Function& kernel, uint64_t staticHash, const Object& file,
                llvm::StringRef optLevel) {
  const Object* entry = file.getObject(kernel.getName());
  if (!entry)
    return false;
  llvm::Module& module = *kernel.getParent();
  std::string name = "'" + readableName(kernel.getName()) + "'";
  if (isStale(*entry, staticHash)) {
    warn(module,
         name + " is not the code that was tuned, and is built as it is: record and tune it again");
    return false;
  }
  // One binary serves every launch: the variant that needs most registers says how many.
  uint64_t registers = 0;
  Leftovers leftovers;
  std::vector<const Object*> variants = variantsOf(*entry, kernel);
  std::string pipeline =
      pipelineFor(variants, kernel.getFnAttribute("target-cpu").getValueAsString());
  for (const Object* variant : variants) {
    registers = std::max(registers, registersOf(*variant));
    collectLeftovers(*variant, pipeline, optLevel, leftovers);
  }
  bool isLimited = registers != 0 && registers < kMaxRegisters;
  if (isLimited && (!compat::moduleTriple(module).isNVPTX() || hasMinBlocks(kernel))) {
    leftovers.insert("launch bounds, beside those of the source or this target");
    isLimited = false;
  }
  if (isLimited)
    compat::setMaxRegisters(kernel, registers);
  bool hasOwnCode = applyPipeline(kernel, pipeline, optLevel);
  if (!leftovers.texts.empty())
    warn(module,
         name + ": left to runs with PROTEUS_TUNED_KERNELS: " + llvm::join(leftovers.texts, ", "));
  return isLimited || hasOwnCode;
}

} // namespace mneme::passes
