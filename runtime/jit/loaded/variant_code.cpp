#include "runtime/jit/loaded/variant_code.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/embed/code_image.h"
#include "runtime/core/embed/ptx_member.h"
#include "runtime/jit/request.h"

namespace mneme::jit {

embed::PtxLimits limitsOf(const tuned::Variant& variant) {
  embed::PtxLimits limits{.registers = variant.maxRegisters};
  if (variant.tunedMaxThreads > 0) {
    limits.maxThreads =
        static_cast<uint32_t>(std::min<int64_t>(variant.tunedMaxThreads, UINT32_MAX));
    limits.minBlocks = variant.minBlocksPerSm;
  }
  return limits;
}

bool hasOtherCode(const tuned::Variant& variant) {
  return limitsOf(variant).isAny() || variant.cubin || variant.sharedCarveout != 0;
}

bool takesBlock(const tuned::Variant& variant, const mneme_dim3& block) {
  const uint64_t bound = limitsOf(variant).maxThreads;
  return bound == 0 || tuned::volume(block).value_or(UINT64_MAX) <= bound;
}

bool hasHandles(const std::vector<std::byte>& ptx) {
  const std::string_view text(reinterpret_cast<const char*>(ptx.data()), ptx.size());
  return std::ranges::any_of(std::array{".texref", ".samplerref", ".surfref"},
                             [&](const char* word) { return text.find(word) != text.npos; });
}

std::vector<std::byte> ptxIn(const std::vector<std::byte>& image, const std::string& target) {
  std::vector<std::byte> ptx = embed::ptxFor(image, target).value_or(image);
  if (embed::formOf(ptx) != "ptx" || hasHandles(ptx))
    throw Error(ErrorCode::Unsupported, "its code takes no limit of registers or threads");
  return ptx;
}

bool hasTunedIr(const embed::BlobSet& blobs, const tuned::File& file) {
  return std::ranges::any_of(blobs.kernels, [&](const auto& item) {
    const embed::KernelBlob& blob = *item.second;
    return !file.variantsFor(item.first, blob.staticHash, blob.codeHash).variants.empty();
  });
}

std::optional<KernelCode> irOf(const embed::BlobSet& blobs, const std::string& kernel) {
  const auto blob = blobs.kernels.find(kernel);
  if (blob == blobs.kernels.end() || blob->second->staticHash == 0 || blob->second->marks)
    return std::nullopt;
  return KernelCode{.name = kernel,
                    .blob = blob->second,
                    .modules = embed::modulesFor(blobs, kernel),
                    .optionsJson = buildOptionsOf(*blob->second)};
}

std::vector<tuned::Variant> variantsFor(const KernelCode& code, const tuned::File& file) {
  std::vector<tuned::Variant> variants =
      file.variantsFor(code.name, code.blob->staticHash, code.blob->codeHash).variants;
  std::erase_if(variants, [&](const tuned::Variant& variant) {
    return !whyUnfit(variant, *code.blob).empty();
  });
  for (tuned::Variant& variant : variants) {
    if (variant.launch && !whyKeepsDims(variant, code).empty())
      variant.launch.reset();
    completeMatch(variant.match, *code.blob);
  }
  return variants;
}

std::vector<ArgValue> constantsOf(const tuned::Variant& variant, const KernelCode& code,
                                  void* const* args) {
  std::vector<ArgValue> values;
  for (const ArgPath& path : specializedArgs(variant, *code.blob)) {
    const ArgPlace place = placeOf(path, code.blob->args);
    const auto bytes =
        argBytes(args, place.index, place.offset + place.sizeBytes).subspan(place.offset);
    values.push_back(
        {.index = path.index, .bytes = {bytes.begin(), bytes.end()}, .offset = path.offset});
  }
  return values;
}

uint64_t keyOf(size_t index, const tuned::Variant& variant, const tuned::Dims& dims,
               const std::vector<ArgValue>& values) {
  const bool needsGrid = variant.specializeDims || variant.boundIndices.value_or(false);
  const bool needsBlock = needsGrid || variant.launchBounds;
  const tuned::Dims needed{needsGrid ? dims.grid : mneme_dim3{},
                           needsBlock ? dims.block : mneme_dim3{}};
  std::string key(reinterpret_cast<const char*>(&needed), sizeof needed);
  for (const ArgValue& value : values)
    key.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
  return combineHashes(index, hash64(key));
}

} // namespace mneme::jit
