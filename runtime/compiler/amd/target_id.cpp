#include "runtime/compiler/amd/target_id.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>

#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

llvm::StringRef textOf(const llvm::Function& function, const char* attribute) {
  return function.getFnAttribute(attribute).getValueAsString();
}

bool has(llvm::StringRef features, const std::string& feature) {
  return llvm::is_contained(llvm::split(features, ','), feature);
}

void add(std::string& features, const std::string& feature) {
  features += (features.empty() ? "" : ",") + feature;
}

/// The kernel's own code says what the unit was compiled for; a library's may be for anything.
const llvm::Function* kernelOf(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    if (function.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL &&
        function.hasFnAttribute("target-cpu"))
      return &function;
  return nullptr;
}

} // namespace

unsigned usualWaveSize(llvm::StringRef cpu) {
  unsigned number = 0;
  if (!cpu.consume_front("gfx") || cpu.consumeInteger(10, number))
    return 0;
  const bool isGeneration = cpu.contains("generic"); // "gfx10-1-generic"
  return number >= 1000 || (isGeneration && number >= 10) ? 32 : 64;
}

std::pair<std::string, std::string> splitTargetId(const std::string& id) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  llvm::StringRef(id).split(parts, ':');
  std::string features;
  for (llvm::StringRef part : llvm::drop_begin(parts)) {
    const char sign = part.empty() ? '\0' : part.back();
    const llvm::StringRef name = part.drop_back(part.empty() ? 0 : 1);
    if ((sign != '+' && sign != '-') || (name != "sramecc" && name != "xnack"))
      throw Error(ErrorCode::InvalidArgument,
                  "target '" + id + "' has '" + part.str() +
                      "'; behind a processor stand sramecc+, sramecc-, xnack+ or xnack-");
    add(features, sign + name.str());
  }
  return {parts.front().str(), features};
}

std::string amdFeatures(const llvm::Module& module, const std::string& cpu, std::string features) {
  const llvm::Function* kernel = kernelOf(module);
  if (!kernel)
    return features;
  const llvm::StringRef builtFor = textOf(*kernel, "target-cpu");
  const llvm::StringRef known = textOf(*kernel, "target-features");
  const unsigned usual = usualWaveSize(cpu);
  const unsigned wanted = has(known, "+wavefrontsize64")   ? 64
                          : has(known, "+wavefrontsize32") ? 32
                                                           : usualWaveSize(builtFor);
  if (wanted == 64 && usual == 32 && usualWaveSize(builtFor) == 32)
    add(features, "+wavefrontsize64");
  else if (wanted != 0 && wanted != usual)
    throw Error(ErrorCode::Unsupported,
                "the kernel was compiled for " + builtFor.str() + ", whose waves have " +
                    std::to_string(wanted) + " threads; those of " + cpu + " have " +
                    std::to_string(usual) + ", so build the program with --offload-arch=" + cpu);
  if (builtFor != cpu)
    return features;
  for (const char* name : {"sramecc", "xnack"})
    for (const char sign : {'+', '-'})
      if (has(known, sign + std::string(name)) && !has(features, '+' + std::string(name)) &&
          !has(features, '-' + std::string(name)))
        add(features, sign + std::string(name));
  return features;
}

} // namespace mneme::compile
