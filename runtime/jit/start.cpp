// Room jit: puts the parts of libmneme_jit.so together.
#include <cstdlib>

#include <pthread.h>

#include "runtime/base/error.h"
#include "runtime/base/log.h"
#pragma GCC visibility push(default)
#include "runtime/jit/start.h"
#pragma GCC visibility pop
#include "runtime/compile/service.h"
#include "runtime/jit/engine.h"

namespace mneme::jit {
namespace {

// Never destroyed: launches and compilations may go on while the process ends.
Engine* theEngine = nullptr;

Services realServices(const Settings& settings) {
  const compile::ServiceOptions options{.cacheDirectory = settings.cacheDirectory,
                                        .cacheBytes = settings.cacheBytes,
                                        .timeoutSeconds = settings.timeoutSeconds};
  return {.makeBackend = makeBackend,
          .compile =
              [options](const compile::Request& request) {
                return compile::compileApart(request, options);
              },
          .findStored =
              [options](const compile::Request& request, compile::Result& result) {
                return compile::findStored(request, options, result);
              },
          .warn = noticeOnce,
          .trace = notice};
}

const mneme_hooks* start() {
  std::vector<std::string> warnings;
  Settings settings = readSettings([](const char* name) { return std::getenv(name); }, warnings);
  for (const std::string& warning : warnings)
    noticeOnce(warning);
  if (settings.tunedKernels.empty())
    return nullptr;
  // Programs change their directory.
  if (!settings.cacheDirectory.empty())
    settings.cacheDirectory = std::filesystem::absolute(settings.cacheDirectory);
  TunedFile file = readTunedFile(settings.tunedKernels);
  for (const std::string& warning : file.warnings)
    noticeOnce(warning);
  if (file.kernels.empty())
    return nullptr;
  Services services = realServices(settings);
  theEngine = new Engine(std::move(settings), std::move(file), std::move(services));
  pthread_atfork(nullptr, nullptr, [] { theEngine->turnOff(); });
  std::atexit([] { theEngine->report(); });
  static constexpr mneme_hooks hooks{
      MNEME_RT_ABI, nullptr,
      [](void*, const mneme_launch* launch) { return theEngine->launch(*launch); },
      [](void*, const mneme_module_entry* module) { theEngine->forget(module); }};
  return &hooks;
}

} // namespace
} // namespace mneme::jit

const mneme_hooks* mneme_jit_start(void) {
  try {
    return mneme::jit::start();
  } catch (const std::exception& error) {
    mneme::noticeOnce(std::string("kernels run as they were built, not as tuned: ") + error.what());
    return nullptr;
  }
}
