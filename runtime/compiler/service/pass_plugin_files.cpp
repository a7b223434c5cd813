#include "runtime/compiler/service/pass_plugin_files.h"

#include <string_view>

#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/pinned_file.h"

namespace mneme::compile {
namespace {

constexpr char kBetween = ':';

PassPlugin pluginOf(std::string_view text) {
  PinnedFile file = pinnedFileIn(text);
  if (!file.contentHash)
    file.contentHash = hashOfFile(file.path).value_or(hash64(file.path));
  return {file.path, *file.contentHash};
}

} // namespace

std::string passPluginText(const std::string& path) {
  const std::string text = pinnedText(path, "pass plugin");
  if (text.find(kBetween) != text.npos)
    throw Error(ErrorCode::InvalidArgument,
                "the path of the pass plugin '" + pinnedFileIn(text).path +
                    "' has a ':', which divides paths; move the file elsewhere");
  return text;
}

std::vector<PassPlugin> passPluginsIn(const std::string& text) {
  std::vector<PassPlugin> plugins;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = rest.find(kBetween);
    if (const std::string_view one = rest.substr(0, end); !one.empty())
      plugins.push_back(pluginOf(one));
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  return plugins;
}

std::string namesOf(const std::vector<PassPlugin>& plugins) {
  std::string names;
  for (const PassPlugin& plugin : plugins)
    names += (names.empty() ? "'" : " and '") + plugin.path + "'";
  return names;
}

void checkUnchanged(const std::vector<PassPlugin>& plugins) {
  for (const PassPlugin& plugin : plugins)
    if (const auto hash = hashOfFile(plugin.path); hash && *hash != plugin.contentHash)
      throw Error(ErrorCode::InvalidArgument,
                  "the pass plugin '" + plugin.path +
                      "' has changed since it was named; name it again with --pass-plugin");
}

} // namespace mneme::compile
