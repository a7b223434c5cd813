#include "runtime/jit/jit_pass_plugins.h"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include <unistd.h>

#include "runtime/core/abi/mneme_jit_plugins.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/jit/refusal.h"

namespace mneme::jit {
namespace {

/// One that cannot be read is refused by the compiler, if that needs it.
compile::PassPlugin readPlugin(const mneme_pass_plugin& plugin) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::string path = fs::canonical(plugin.path, error).string();
  if (error)
    path = fs::absolute(plugin.path).string();
  try {
    const auto content = apart([&] { return readFile(path); });
    return {path, hash64(content)};
  } catch (const Error&) {
    return {path, hash64(path + plugin.pipeline)};
  }
}

std::unique_ptr<const PassPlugins> readAll(const mneme_pass_plugins& registered) {
  auto all = std::make_unique<PassPlugins>();
  for (uint64_t index = 0; index < registered.count; ++index) {
    const mneme_pass_plugin& plugin = registered.plugins[index];
    all->pipelines += std::string(",") + plugin.pipeline;
    all->plugins.push_back(readPlugin(plugin));
  }
  return all;
}

} // namespace

const PassPlugins* presentPassPlugins() {
  const mneme_pass_plugins* const registered = mneme_jit_pass_plugins();
  if (!registered)
    return nullptr;
  static std::mutex mutex;
  // Never destroyed: launches may come while the process ends.
  static auto& known = *new std::map<const mneme_pass_plugins*, std::unique_ptr<const PassPlugins>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<const PassPlugins>& plugins = known[registered];
  if (!plugins)
    plugins = readAll(*registered);
  return plugins.get();
}

void addPassPlugins(compile::Request& request, const PassPlugins& plugins) {
  request.passes += plugins.pipelines;
  request.plugins.insert(request.plugins.end(), plugins.plugins.begin(), plugins.plugins.end());
}

void refuseUnusable(const compile::Request& request, const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  const bool isUnloadable =
      !request.plugins.empty() && known && known->code() == ErrorCode::BackendUnavailable;
  const bool isNoPipeline = known && known->code() == ErrorCode::InvalidArgument &&
                            std::string_view(known->what()).starts_with("invalid pass pipeline");
  if (isUnloadable)
    refuse((std::string("Failed to load JIT ") + known->what()).c_str());
  if (isNoPipeline)
    refuse(known->what());
}

void passOnPrinted(const std::string& text) noexcept {
  for (size_t begin = 0; begin < text.size();) {
    const ssize_t count = write(STDOUT_FILENO, text.data() + begin, text.size() - begin);
    if (count <= 0)
      return; // there is nobody who reads it
    begin += static_cast<size_t>(count);
  }
}

} // namespace mneme::jit
