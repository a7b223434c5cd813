#include "runtime/jit/request.h"

#include <algorithm>

namespace mneme::jit {
namespace {

void setLaunchBounds(compile::Request& request, const tuned::Variant& variant,
                     const mneme_dim3& block) {
  const uint64_t threads = tuned::volume(block).value_or(0);
  // Leaves impossible blocks alone: the launch fails as it would without us.
  if (!variant.launchBounds || threads == 0 || threads > UINT32_MAX)
    return;
  request.setLaunchBounds = true;
  request.maxThreads = static_cast<uint32_t>(threads);
  if (variant.tunedMaxThreads <= 0 || static_cast<uint64_t>(variant.tunedMaxThreads) == threads)
    request.minBlocksPerSm = variant.minBlocksPerSm;
}

bool isValue(const embed::KernelArg& arg) {
  return arg.kind != embed::ArgKind::Pointer && arg.sizeBytes > 0;
}

} // namespace

std::vector<uint32_t> specializedArgs(const tuned::Variant& variant,
                                      const embed::KernelBlob& blob) {
  if (!variant.specializeArgs)
    return {};
  if (variant.specializedArgs)
    return *variant.specializedArgs;
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < blob.args.size(); ++i)
    if (blob.args[i].isSpecializable)
      all.push_back(i);
  return all;
}

std::string whyUnfit(const tuned::Variant& variant, const embed::KernelBlob& blob) {
  for (const tuned::ArgMatch& arg : variant.match.args)
    if (arg.index >= blob.args.size() || !isValue(blob.args[arg.index]) ||
        blob.args[arg.index].sizeBytes != arg.bytes.size())
      return "Match names argument " + std::to_string(arg.index) + " as a value of " +
             std::to_string(arg.bytes.size()) + " bytes, which the kernel does not have";
  if (variant.specializeArgs && variant.specializedArgs)
    for (const uint32_t index : *variant.specializedArgs)
      if (index >= blob.args.size() || !blob.args[index].isSpecializable)
        return "SpecializedArgs names argument " + std::to_string(index) +
               ", whose value cannot become a constant";
  return "";
}

std::string whyKeepsDims(const tuned::Variant& variant, const KernelCode& code) {
  if (code.modules.size() > 1)
    return "its code is linked with other units, which may not be as they were when it was tuned";
  for (uint32_t i = 0; i < code.blob->args.size(); ++i)
    if (isValue(code.blob->args[i]) &&
        std::ranges::find(variant.match.args, i, &tuned::ArgMatch::index) ==
            variant.match.args.end())
      return "Match does not say what argument " + std::to_string(i) +
             " was; write the file again with 'mneme deploy'";
  return "";
}

void setKinds(tuned::Match& match, const embed::KernelBlob& blob) {
  for (tuned::ArgMatch& arg : match.args) {
    const embed::KernelArg& known = blob.args[arg.index];
    arg.isInteger = arg.isInteger && known.kind == embed::ArgKind::Integer && known.isSpecializable;
    arg.isFloat = known.kind == embed::ArgKind::Float;
  }
}

compile::Request makeRequest(const KernelCode& code, const tuned::Variant& variant,
                             const BinarySpec& spec) {
  compile::Request request;
  for (const auto& module : code.modules)
    request.modules.push_back(module->bitcode);
  request.kernel = code.name;
  request.target = spec.target;
  request.passes = variant.pipeline;
  request.codegenOptLevel = variant.codegenOptLevel;
  request.maxRegisters = variant.maxRegisters;
  request.optionsJson = code.optionsJson;
  request.wantIr = spec.wantsIr;
  request.specializedArgs = spec.values;
  setLaunchBounds(request, variant, spec.dims.block);
  if (variant.specializeDims) {
    request.specializeDims = true;
    const mneme_dim3 &grid = spec.dims.grid, &block = spec.dims.block;
    std::ranges::copy(std::initializer_list<uint32_t>{grid.x, grid.y, grid.z}, request.grid);
    std::ranges::copy(std::initializer_list<uint32_t>{block.x, block.y, block.z}, request.block);
  }
  if (spec.placesGlobals)
    for (const embed::KernelGlobal& global : globalsOf(code))
      request.placedGlobals.push_back({global.name, 0});
  return request;
}

} // namespace mneme::jit
