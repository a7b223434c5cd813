#include "runtime/compiler/service/configuration.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

void setLaunchBounds(Request& request, const Knobs& knobs, const mneme_dim3& block) {
  const uint64_t threads = uint64_t(block.x) * block.y * block.z;
  if (knobs.maxThreads != 0 && knobs.maxThreads < threads)
    throw Error(ErrorCode::InvalidArgument,
                "the launch bounds allow " + std::to_string(knobs.maxThreads) +
                    " threads but the block has " + std::to_string(threads) +
                    "; raise max_threads or shrink the block");
  request.setLaunchBounds = true;
  request.maxThreads = knobs.maxThreads != 0 ? knobs.maxThreads : static_cast<uint32_t>(threads);
  request.minBlocksPerSm = knobs.minBlocksPerSm;
}

} // namespace

std::vector<uint32_t> constantArgs(const Knobs& knobs, const std::vector<KernelArg>& args) {
  std::vector<uint32_t> indices;
  if (!knobs.specialize)
    return indices;
  if (knobs.specializedArgs.empty()) {
    for (uint32_t i = 0; i < args.size(); ++i)
      if (args[i].isSpecializable)
        indices.push_back(i);
    return indices;
  }
  const std::string_view text = knobs.specializedArgs;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    uint32_t index = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, index);
    if (error != std::errc() || stop != text.data() + end)
      throw Error(ErrorCode::InvalidArgument, "specialized_args is '" + knobs.specializedArgs +
                                                  "', not numbers of arguments such as '0,2'");
    if (index >= args.size() || !args[index].isSpecializable)
      throw Error(ErrorCode::InvalidArgument, "specialized_args names argument " +
                                                  std::to_string(index) +
                                                  ", whose value cannot become a constant");
    indices.push_back(index);
    begin = end + 1;
  }
  return indices;
}

Request toRequest(KernelSource source, const Knobs& knobs, const mneme_dim3& grid,
                  const mneme_dim3& block, std::string target) {
  Request request;
  request.modules = std::move(source.modules);
  request.kernel = std::move(source.name);
  request.optionsJson = std::move(source.optionsJson);
  request.target = std::move(target);
  request.passes = knobs.passes;
  request.codegenOptLevel = knobs.codegenOpt;
  request.prune = knobs.prune;
  request.internalize = knobs.internalize;
#define MNEME_CODE_NUMBER(member, key, otherwise, high, deployed, searched, devices, label, text)  \
  request.member = knobs.member;
#include "runtime/core/abi/knobs.def"
  if (knobs.setLaunchBounds)
    setLaunchBounds(request, knobs, block);
  request.specializeDims = knobs.specializeDims;
  if (knobs.specializeDims)
    setDims(request, grid, block);
  return request;
}

uint32_t& codeNumber(Request& request, const std::string& wanted) {
#define MNEME_CODE_NUMBER(member, key, otherwise, high, deployed, searched, devices, label, text)  \
  if (wanted == key)                                                                               \
    return request.member;
#include "runtime/core/abi/knobs.def"
  throw Error(ErrorCode::InvalidArgument, "no knob that changes code is called '" + wanted + "'");
}

void setDims(Request& request, const mneme_dim3& grid, const mneme_dim3& block) {
  std::ranges::copy(std::initializer_list<uint32_t>{grid.x, grid.y, grid.z}, request.grid);
  std::ranges::copy(std::initializer_list<uint32_t>{block.x, block.y, block.z}, request.block);
}

} // namespace mneme::compile
