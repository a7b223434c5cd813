// Room jit: puts the parts for marked host functions together.
#include <cstdio>
#include <cstdlib>

#include <pthread.h>
#include <sys/stat.h>

#include "runtime/core/abi/mneme_jit.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/sentence.h"
#include "runtime/core/base/standard_error.h"
#include "runtime/jit/developer_output.h"
#include "runtime/jit/engine_begins.h"
#include "runtime/jit/host/engine.h"
#include "runtime/jit/refusal.h"
#include "runtime/jit/service_options.h"

namespace mneme::jit {
namespace {

// Never destroyed: calls may come while the process ends.
HostEngine* theHostEngine = nullptr;

HostServices servicesFor(const Settings& settings) {
  const compile::ServiceOptions options = serviceOptions(settings);
  return {.compile =
              [options](const compile::Request& request) {
                return compile::compileApart(request, options);
              },
          .findStored =
              [options](const compile::Request& request, compile::Result& result) {
                return compile::findStored(request, options, result);
              },
          .warn = noticeOnce,
          .print = [](const std::string& text) { fwrite(text.data(), 1, text.size(), stdout); }};
}

/// Whether the forking process has a single thread: then no lock stays taken for ever in the child.
bool isAlone = false;

/// Threads that were waited for are still listed for some microseconds.
bool isOnlyThread() {
  constexpr nlink_t kLinksOfItself = 2; // and one for each thread
  constexpr timespec kPause{0, 50000};
  constexpr unsigned kLooks = 5;
  for (unsigned look = 0; look < kLooks; ++look) {
    struct stat status = {};
    if (stat("/proc/self/task", &status) == 0 && status.st_nlink == kLinksOfItself + 1)
      return true;
    nanosleep(&kPause, nullptr);
  }
  return false;
}

void* codeFor(mneme_host_function* function, void** arguments) {
  return theHostEngine->codeFor(*function, arguments);
}

void start() {
  keptEnvironment = {mneme_rt_environment(), mneme_rt_directory()};
  std::vector<std::string> warnings;
  Settings settings = readSettings(keptValue, warnings);
  settings.hasMarks = true;
  refuseNonsense(settings);
  for (const std::string& warning : warnings)
    noticeOnce(warning);
  settings.trace = settings.asked;
  completeLevels(settings);
  writeTimeTraceAtExit(settings);
  HostServices services = servicesFor(settings);
  theHostEngine = new HostEngine(std::move(settings), std::move(services));
  pthread_atfork([] { isAlone = isOnlyThread(); }, nullptr,
                 [] {
                   if (!isAlone)
                     theHostEngine->becomeChild();
                 });
  std::atexit([] { theHostEngine->report(); });
  tellModules(/*isForGpu=*/false);
}

} // namespace
} // namespace mneme::jit

void* (*mneme_jit_start_host(void))(mneme_host_function*, void**) {
  try {
    mneme::useStandardErrorOf(mneme_rt_standard_error);
    mneme::jit::start();
    return mneme::jit::codeFor;
  } catch (const std::exception& error) {
    mneme::noticeOnce(mneme::sentence("marked functions run as they were built: ", error.what()));
    return nullptr;
  }
}
