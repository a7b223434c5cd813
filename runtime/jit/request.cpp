#include "runtime/jit/request.h"

#include <algorithm>
#include <utility>

#include "runtime/compiler/service/configuration.h"
#include "runtime/core/base/hash.h"

namespace mneme::jit {
namespace {

/// Returns the knobs with which a replay compiles the same code as this variant.
compile::Knobs knobsOf(const tuned::Variant& variant, const mneme_dim3& block, bool isMarked) {
  compile::Knobs knobs;
  knobs.passes = variant.pipeline;
  knobs.codegenOpt = variant.codegenOptLevel;
  knobs.specializeDims = variant.specializeDims;
#define MNEME_CODE_NUMBER(member, key, otherwise, high, deployed, searched, devices, label, text)  \
  knobs.member = variant.member;
#define MNEME_CODE_TEXT(member, key, deployed, option, metavar, between, label, text)              \
  knobs.member = variant.member;
#include "runtime/core/abi/knobs.def"
  const uint64_t threads = tuned::volume(block).value_or(0);
  // Leaves impossible blocks alone: the launch fails as it would without us.
  knobs.setLaunchBounds = variant.launchBounds && threads != 0 && threads <= UINT32_MAX;
  if (!knobs.setLaunchBounds)
    return knobs;
  knobs.maxThreads = static_cast<uint32_t>(threads);
  // What the reference tool's files say holds for the block they name alone.
  const bool isForAll = variant.tunedMaxThreads <= 0 && !isMarked;
  if (isForAll || static_cast<uint64_t>(variant.tunedMaxThreads) == threads)
    knobs.minBlocksPerSm = variant.minBlocksPerSm;
  return knobs;
}

} // namespace

std::vector<ArgPath> specializedArgs(const tuned::Variant& variant, const embed::KernelBlob& blob) {
  if (!variant.specializeArgs)
    return {};
  if (variant.specializedArgs)
    return *variant.specializedArgs;
  std::vector<ArgPath> all;
  for (uint32_t i = 0; i < blob.args.size(); ++i)
    if (blob.args[i].isSpecializable)
      all.push_back({i});
  return all;
}

std::string whyUnfit(const tuned::Variant& variant, const embed::KernelBlob& blob) {
  for (const ArgValue& arg : variant.match.args)
    if (arg.index >= blob.args.size() || !blob.args[arg.index].isValue() ||
        blob.args[arg.index].sizeBytes != arg.bytes.size())
      return "Match names argument " + std::to_string(arg.index) + " as a value of " +
             std::to_string(arg.bytes.size()) + " bytes, which the kernel does not have";
  if (!variant.specializeArgs || !variant.specializedArgs)
    return "";
  for (const ArgPath& path : *variant.specializedArgs) {
    bool isFound = false;
    if (path.index < blob.args.size())
      visitConstants(path.index, blob.args[path.index],
                     [&](const ArgPath& one) { isFound |= one == path; });
    if (!isFound)
      return (path.offset ? "SpecializedMembers names the member at offset " +
                                std::to_string(*path.offset) + " of argument "
                          : std::string("SpecializedArgs names argument ")) +
             std::to_string(path.index) + ", whose value cannot become a constant";
  }
  return "";
}

std::string whyKeepsDims(const tuned::Variant& variant, const KernelCode& code) {
  if (code.modules.size() > 1)
    return "its code is linked with other units, which may not be as they were when it was tuned";
  for (uint32_t i = 0; i < code.blob->args.size(); ++i) {
    bool hasValues = false;
    code.blob->args[i].visitValues([&](auto...) { hasValues = true; });
    if (hasValues &&
        std::ranges::find(variant.match.args, i, &ArgValue::index) == variant.match.args.end())
      return "Match does not say what argument " + std::to_string(i) +
             " was; write the file again with 'mneme deploy'";
  }
  return "";
}

void completeMatch(tuned::Match& match, const embed::KernelBlob& blob) {
  std::vector<ArgValue> args;
  for (const ArgValue& arg : match.args) {
    const KernelArg& known = blob.args[arg.index];
    known.visitValues([&](uint64_t offset, uint64_t sizeBytes, ArgKind kind) {
      // Other integers, as of bit fields, say nothing of how near a launch is.
      const ArgField* field = known.findField(offset);
      const bool isCount =
          field ? field->isSpecializable : arg.kind == ArgKind::Integer && known.isSpecializable;
      const auto begin = arg.bytes.begin() + offset;
      args.push_back(
          {.index = arg.index,
           .bytes = {begin, begin + sizeBytes},
           .kind = kind == ArgKind::Integer && !isCount ? ArgKind::Unknown : kind,
           .offset = field ? std::optional(static_cast<uint32_t>(offset)) : std::nullopt});
    });
  }
  match.args = std::move(args);
}

tuned::Variant markedVariant(const MarkedDefaults& defaults, bool boundsIndices) {
  tuned::Variant variant;
  variant.launchBounds = defaults.launchBounds;
  variant.specializeArgs = defaults.specializeArgs;
  variant.specializeDims = defaults.specializeDims;
  variant.boundIndices = defaults.boundIndices.value_or(boundsIndices);
  variant.optLevel = std::string(1, defaults.optLevel);
  variant.namesPipeline = !defaults.pipeline.empty();
  variant.pipeline =
      variant.namesPipeline ? defaults.pipeline : "default<O" + variant.optLevel + ">";
  variant.codegenOptLevel = defaults.codegenOptLevel;
  return variant;
}

bool hasUnitOf(uint32_t vendor) {
  struct Search {
    uint32_t vendor;
    bool isFound = false;
  } search{vendor};
  mneme_rt_visit_modules(
      [](void* user, const mneme_module_entry* module) {
        auto& search = *static_cast<Search*>(user);
        search.isFound |= module->vendor == search.vendor;
      },
      &search);
  return search.isFound;
}

std::string jitSymbol(const std::string& name, uint64_t hash, uint32_t vendor) {
  return vendor == 0 ? name + "$jit$" + std::to_string(hash) + "$"
                     : name + ".jit." + std::to_string(hash);
}

uint64_t requestHash(const KernelCode& code, const compile::Request& request) {
  std::string key = code.name + '\0' + request.target + '\0' + request.passes + '\0';
  const auto add = [&](uint32_t number) { key += std::to_string(number) + ' '; };
  compile::visitCodeNumbers(request, add);
  for (unsigned axis = 0; axis < 3; ++axis) {
    add(request.grid[axis]);
    add(request.block[axis]);
  }
  for (const ArgValue& arg : request.specializedArgs) {
    key += std::to_string(arg.index) + (arg.offset ? '+' + std::to_string(*arg.offset) : "") + '=' +
           std::to_string(arg.bytes.size()) + ':';
    key.append(reinterpret_cast<const char*>(arg.bytes.data()), arg.bytes.size());
  }
  for (const compile::LambdaValue& field : request.lambdaValues) {
    key += field.function + '.' + std::to_string(field.slot) + '=';
    key.append(reinterpret_cast<const char*>(field.value.data()), field.value.size());
  }
  for (const compile::PassPlugin& plugin : request.plugins)
    key += plugin.path + '=' + std::to_string(plugin.contentHash) + ' ';
  if (!request.compiler.empty())
    key += "compiler " + request.compiler + ' ';
  if (!request.llvmOptions.empty())
    key += "LLVM " + request.llvmOptions + ' ';
  if (!request.assemblerOptions.empty())
    key += "assembler " + request.assemblerOptions;
  compile::visitLaterTexts(request, [&](const std::string& knob, const std::string& text) {
    if (!text.empty())
      key += ' ' + knob + ' ' + text;
  });
  return combineHashes(code.blob->staticHash, hash64(key));
}

compile::Request makeRequest(const KernelCode& code, const tuned::Variant& variant,
                             const BinarySpec& spec) {
  const mneme_dim3 &grid = spec.dims.grid, &block = spec.dims.block;
  compile::KernelSource source{.name = code.name, .modules = {}, .optionsJson = code.optionsJson};
  for (const auto& module : code.modules)
    source.modules.push_back(module->bitcode);
  compile::Request request =
      compile::toRequest(std::move(source), knobsOf(variant, block, code.blob->marks.has_value()),
                         grid, block, spec.target);
  request.wantIr = spec.wantsIr;
  request.specializedArgs = spec.values;
  request.lambdaValues = spec.lambdaValues;
  request.boundIndices = variant.boundIndices.value_or(false);
  if (request.boundIndices)
    compile::setDims(request, grid, block);
  if (spec.placesGlobals)
    for (const embed::KernelGlobal& global : globalsOf(code))
      request.placedGlobals.push_back({global.name, 0});
  if (code.blob->marks) {
    // Blocks tell specialisations apart, whether the code depends on them or not.
    std::ranges::copy(std::initializer_list<uint32_t>{block.x, block.y, block.z}, request.block);
    request.wantTrace = spec.wantsTrace;
    if (spec.plugins)
      addPassPlugins(request, *spec.plugins);
    const uint64_t hash = requestHash(code, request);
    request.symbol = jitSymbol(code.name, hash, code.module->vendor);
    request.cacheName = spec.rank + "-cache-jit-" + std::to_string(hash) + ".o";
  }
  return request;
}

} // namespace mneme::jit
