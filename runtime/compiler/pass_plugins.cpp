#include "runtime/compiler/pass_plugins.h"

#include <llvm/Support/raw_ostream.h>

#include <cstdio>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

/// Makes LLVM's symbols visible: plugins expect them in the library that loads the plugin.
void showLlvm() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&llvm::outs), &info) && info.dli_fname)
    dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

void flushAll() {
  llvm::outs().flush();
  fflush(stdout);
}

} // namespace

PassPlugins::PassPlugins(const char* const* paths, size_t count) {
  if (count > 0)
    showLlvm();
  for (size_t index = 0; index < count; ++index) {
    llvm::Expected<llvm::PassPlugin> plugin = llvm::PassPlugin::Load(paths[index]);
    if (!plugin)
      throw Error(ErrorCode::BackendUnavailable, "Failed to load JIT pass plugin '" +
                                                     std::string(paths[index]) +
                                                     "': " + llvm::toString(plugin.takeError()));
    plugins_.push_back(*plugin);
  }
}

void PassPlugins::addTo(llvm::PassBuilder& builder) const {
  for (const llvm::PassPlugin& plugin : plugins_)
    plugin.registerPassBuilderCallbacks(builder);
}

CapturedStandardOutput::CapturedStandardOutput() {
  flushAll();
  file_ = memfd_create("mneme-printed", MFD_CLOEXEC);
  if (file_ < 0)
    return;
  kept_ = dup(STDOUT_FILENO);
  dup2(file_, STDOUT_FILENO);
}

CapturedStandardOutput::~CapturedStandardOutput() {
  if (file_ < 0)
    return;
  flushAll();
  if (kept_ >= 0) {
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  } else {
    close(STDOUT_FILENO);
  }
  close(file_);
}

std::string CapturedStandardOutput::text() const {
  flushAll();
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0;
       (count = pread(file_, buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0;)
    text.append(buffer, static_cast<size_t>(count));
  return text;
}

} // namespace mneme::compile
