#include "runtime/compiler/service/pass_plugin_files.h"

#include <filesystem>
#include <optional>
#include <string_view>

#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/own_descriptors.h"

namespace mneme::compile {
namespace {

constexpr char kBetween = ':';
constexpr size_t kHashDigits = 16;

uint64_t hashOfFile(const std::string& path) {
  return hash64(apart([&] { return readFile(path); }));
}

std::optional<uint64_t> hashIfThere(const std::string& path) {
  try {
    return hashOfFile(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

PassPlugin pluginOf(std::string_view text) {
  const size_t digits = text.size() > kHashDigits ? text.size() - kHashDigits : 0;
  const std::string_view hash = text.substr(digits);
  const bool isPinned = digits > 1 && text[digits - 1] == '@' &&
                        hash.find_first_not_of("0123456789abcdef") == hash.npos;
  if (isPinned)
    return {std::string(text.substr(0, digits - 1)), std::stoull(std::string(hash), nullptr, 16)};
  const std::string path(text);
  return {path, hashIfThere(path).value_or(hash64(path))};
}

} // namespace

std::string passPluginText(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string found = fs::canonical(path, error).string();
  if (error || !fs::is_regular_file(found))
    throw Error(ErrorCode::InvalidArgument, "there is no pass plugin '" + path + "'");
  if (found.find(kBetween) != found.npos)
    throw Error(ErrorCode::InvalidArgument,
                "the path of the pass plugin '" + found +
                    "' has a ':', which divides paths; move the file elsewhere");
  return found + "@" + toHex(hashOfFile(found));
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
    if (const auto hash = hashIfThere(plugin.path); hash && *hash != plugin.contentHash)
      throw Error(ErrorCode::InvalidArgument,
                  "the pass plugin '" + plugin.path +
                      "' has changed since it was named; name it again with --pass-plugin");
}

} // namespace mneme::compile
