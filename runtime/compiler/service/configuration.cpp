#include "runtime/compiler/service/configuration.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/compiler/service/pass_plugin_files.h"
#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

/// `list` is what the user gave.
ArgPath pathOf(std::string_view text, const std::string& list, const std::vector<KernelArg>& args) {
  const size_t name = text.find('.');
  const std::optional<ArgPath> given = argPathOf(text.substr(0, name));
  if (!given || (name != text.npos && given->offset))
    throw Error(ErrorCode::InvalidArgument,
                "specialized_args is '" + list +
                    "', not numbers of arguments such as '0,2', or members such as '0+8'");
  std::optional<ArgPath> found;
  if (given->index < args.size())
    visitConstants(given->index, args[given->index], [&](const ArgPath& one) {
      const bool isMember = name != text.npos && one.offset;
      if (isMember ? args[one.index].findField(*one.offset)->name == text.substr(name + 1)
                   : name == text.npos && one == *given)
        found = one;
    });
  if (!found)
    throw Error(ErrorCode::InvalidArgument, "specialized_args names argument " + std::string(text) +
                                                ", whose value cannot become a constant");
  return *found;
}

} // namespace

std::vector<ArgPath> constantArgs(const Knobs& knobs, const std::vector<KernelArg>& args) {
  std::vector<ArgPath> paths;
  if (!knobs.specialize)
    return paths;
  if (knobs.specializedArgs.empty()) {
    for (uint32_t index = 0; index < args.size(); ++index)
      visitConstants(index, args[index], [&](const ArgPath& path) { paths.push_back(path); });
    return paths;
  }
  const std::string_view text = knobs.specializedArgs;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    paths.push_back(pathOf(text.substr(begin, end - begin), knobs.specializedArgs, args));
    begin = end + 1;
  }
  return paths;
}

LaunchBounds launchBoundsOf(const Knobs& knobs, const mneme_dim3& block) {
  const uint64_t threads = uint64_t(block.x) * block.y * block.z;
  if (knobs.maxThreads != 0 && knobs.maxThreads < threads)
    throw Error(ErrorCode::InvalidArgument,
                "the launch bounds allow " + std::to_string(knobs.maxThreads) +
                    " threads but the block has " + std::to_string(threads) +
                    "; raise max_threads or shrink the block");
  return {knobs.maxThreads != 0 ? knobs.maxThreads : static_cast<uint32_t>(threads),
          knobs.minBlocksPerSm};
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
#define MNEME_CODE_TEXT(member, key, deployed, option, metavar, between, label, text)              \
  request.member = knobs.member;
#define MNEME_CODE_FILES(member, key, deployed, option, metavar, between, label, text)
#include "runtime/core/abi/knobs.def"
  request.plugins = passPluginsIn(knobs.passPlugins);
  request.compiler = knobs.llvm;
  request.setLaunchBounds = knobs.setLaunchBounds;
  if (knobs.setLaunchBounds) {
    const LaunchBounds bounds = launchBoundsOf(knobs, block);
    request.maxThreads = bounds.maxThreads;
    request.minBlocksPerSm = bounds.minBlocksPerSm;
  }
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

void setCodeText(Request& request, const std::string& wanted, const std::string& value) {
  if (wanted == "pass_plugins")
    request.plugins = passPluginsIn(value);
  else if (wanted == "llvm")
    request.compiler = value;
  else {
    bool isKnown = false;
    visitCodeTexts(request, [&](const std::string& key, std::string& text) {
      if (key == wanted) {
        text = value;
        isKnown = true;
      }
    });
    if (!isKnown)
      throw Error(ErrorCode::InvalidArgument,
                  "no knob that changes code is called '" + wanted + "'");
  }
}

void setDims(Request& request, const mneme_dim3& grid, const mneme_dim3& block) {
  std::ranges::copy(std::initializer_list<uint32_t>{grid.x, grid.y, grid.z}, request.grid);
  std::ranges::copy(std::initializer_list<uint32_t>{block.x, block.y, block.z}, request.block);
}

} // namespace mneme::compile
