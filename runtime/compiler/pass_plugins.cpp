#include "runtime/compiler/pass_plugins.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdio>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

constexpr const char* kBuiltFor = "mneme_pass_plugin_llvm"; ///< mneme_add_pass_plugin() adds it
constexpr const char* kBuildAgain =
    "; build it with the headers of LLVM " LLVM_VERSION_STRING ", in the folder that "
    "'mneme config llvmdir' says";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::BackendUnavailable, "pass plugin '" + path + "': " + why);
}

/// What the dynamic section of a loaded library lists under a tag, such as DT_NEEDED.
std::vector<std::string> listedIn(const link_map* map, int64_t tag) {
  std::vector<std::string> found;
  const char* names = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_STRTAB)
      names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  for (const ElfW(Dyn)* entry = map->l_ld; names && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag)
      found.emplace_back(names + entry->d_un.d_val);
  return found;
}

/// Makes LLVM's symbols visible: plugins expect them in the library that loads the plugin. Returns
/// the name by which plugins ask for that library.
std::string showLlvm() {
  Dl_info info = {}, ours = {};
  link_map* map = nullptr;
  dladdr1(reinterpret_cast<const void*>(&llvm::outs), &info, reinterpret_cast<void**>(&map),
          RTLD_DL_LINKMAP);
  dladdr(reinterpret_cast<const void*>(&showLlvm), &ours);
  if (!map || !info.dli_fname || info.dli_fbase == ours.dli_fbase)
    throw Error(
        ErrorCode::BackendUnavailable,
        "this kernel compiler cannot load pass plugins: it holds an LLVM of its own; 'mneme "
        "compiler add PREFIX' builds one that can, with an LLVM that is a shared library");
  dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  const std::vector<std::string> names = listedIn(map, DT_SONAME);
  return names.empty() ? "" : names.front();
}

/// Refuses what was built for another LLVM, whose classes are others under the same names.
void checkLlvm(const std::string& path, void* plugin, const std::string& llvmName) {
  const auto* builtFor = static_cast<const char*>(dlsym(plugin, kBuiltFor));
  const llvm::StringRef series =
      llvm::StringRef(LLVM_VERSION_STRING).take_until([](char c) { return c == '.'; });
  if (builtFor && llvm::StringRef(builtFor).take_until([](char c) { return c == '.'; }) != series)
    refuse(path, std::string("it is built for LLVM ") + builtFor + kBuildAgain);
  link_map* map = nullptr;
  if (dlinfo(plugin, RTLD_DI_LINKMAP, &map) != 0 || !map)
    return;
  for (const std::string& needed : listedIn(map, DT_NEEDED))
    if (needed.starts_with("libLLVM") && needed != llvmName)
      refuse(path,
             "it is linked with '" + needed + "', and mneme uses '" + llvmName + "'" + kBuildAgain);
}

llvm::PassPlugin loadPlugin(const std::string& path, const std::string& llvmName) {
  // At once, so that what is missing is named here, and does not end the process later.
  void* const plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    const std::string why = dlerror();
    const bool lacksSymbol = why.find("undefined symbol") != std::string::npos;
    refuse(path, "Could not load library: " + why + (lacksSymbol ? kBuildAgain : ""));
  }
  checkLlvm(path, plugin, llvmName);
  if (!dlsym(plugin, "llvmGetPassPluginInfo"))
    refuse(path, "it has no function 'llvmGetPassPluginInfo', which pass plugins have");
  llvm::Expected<llvm::PassPlugin> loaded = llvm::PassPlugin::Load(path);
  if (!loaded) {
    const std::string why = llvm::toString(loaded.takeError());
    refuse(path, llvm::StringRef(why).rtrim('.').str() + kBuildAgain);
  }
  return *loaded;
}

void flushAll() {
  llvm::outs().flush();
  fflush(stdout);
}

} // namespace

PassPlugins::PassPlugins(const char* const* paths, size_t count) {
  if (count == 0)
    return;
  const std::string llvmName = showLlvm();
  for (size_t index = 0; index < count; ++index)
    plugins_.push_back(loadPlugin(paths[index], llvmName));
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
