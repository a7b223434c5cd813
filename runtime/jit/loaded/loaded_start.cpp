#include "runtime/jit/loaded/loaded_start.h"

#include <atomic>
#include <cstdlib>

#include <dlfcn.h>
#include <pthread.h>

#include "runtime/compiler/service/service.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/base/sentence.h"
#include "runtime/core/base/standard_error.h"
#include "runtime/core/base/start_directory.h"
#include "runtime/jit/jit_settings.h"
#include "runtime/jit/loaded/present_driver.h"

namespace mneme::jit {
namespace {

// Never destroyed: launches may go on while the process ends.
std::atomic<LoadedEngine*> theEngine{nullptr};

[[gnu::constructor]] void rememberWhereMessagesGo() { rememberStandardError(); }

bool isSwitchedOff() {
  const char* const value = environmentValue("PROTEUS_DISABLE");
  return value && std::atoi(value) != 0;
}

bool isRecorded() { return dlsym(RTLD_DEFAULT, "mneme_record_begin") != nullptr; }

LoadedEngine* make() {
  std::vector<std::string> warnings; // the engine for kernels with IR says them
  const Settings settings = readSettings(environmentValue, warnings);
  if (settings.tunedKernels.empty() || isSwitchedOff() || isRecorded())
    return nullptr;
  tuned::File file =
      apart([&] { return tuned::readFile(startDirectory() / settings.tunedKernels); });
  for (const std::string& warning : file.warnings)
    noticeOnce(warning);
  if (file.kernels.empty())
    return nullptr;
  static const std::unique_ptr<LoadedDriver>& driver = *new auto(presentDriver());
  LoadedEngine::Services services{.warn = noticeOnce, .trace = nullptr};
  compile::ServiceOptions options{.cacheDirectory = {},
                                  .cacheBytes = settings.cacheBytes,
                                  .timeoutSeconds = settings.timeoutSeconds};
  if (!settings.cacheDirectory.empty() && !settings.cacheLevels.empty())
    options.cacheDirectory = startDirectory() / settings.cacheDirectory;
  services.compile = [options](const compile::Request& request) {
    return compile::compileApart(request, options).image;
  };
  if (settings.trace.kernels)
    services.trace = notice;
  return new LoadedEngine(std::move(file), *driver, std::move(services));
}

void start() noexcept {
  try {
    theEngine = make();
    if (!theEngine)
      return;
    pthread_atfork(nullptr, nullptr, [] { theEngine.load()->turnOff(); });
    std::atexit([] { theEngine.load()->report(); });
  } catch (const std::exception& error) {
    noticeOnce(sentence("kernels run as they were built, not as tuned: ", error.what()));
  }
}

} // namespace

LoadedEngine* startedEngine() noexcept { return theEngine.load(std::memory_order_acquire); }

LoadedEngine* loadedEngine() noexcept {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start);
  return startedEngine();
}

} // namespace mneme::jit
