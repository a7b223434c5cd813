// Room jit: puts the parts of libmneme_jit.so together.
#include <cstdio>
#include <cstdlib>

#include <pthread.h>
#include <set>

#include "runtime/core/abi/mneme_jit.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/base/sentence.h"
#include "runtime/core/base/standard_error.h"
#include "runtime/core/base/start_directory.h"
#include "runtime/jit/developer_output.h"
#include "runtime/jit/engine.h"
#include "runtime/jit/engine_begins.h"
#include "runtime/jit/refusal.h"
#include "runtime/jit/service_options.h"

namespace mneme::jit {
namespace {

// Never destroyed: launches and compilations may go on while the process ends.
Engine* theEngine = nullptr;

constexpr size_t kNamesShown = 3;

Services realServices(const Settings& settings) {
  const compile::ServiceOptions options = serviceOptions(settings);
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
          .trace = notice,
          .variablePlace = variablePlaceOf,
          .print = [](const std::string& text) { fwrite(text.data(), 1, text.size(), stdout); }};
}

bool isRegistered(const tuned::File& file) {
  struct Search {
    const tuned::File& file;
    bool isFound = false;
  } search{file};
  mneme_rt_visit_modules(
      [](void* user, const mneme_module_entry* module) {
        auto& search = *static_cast<Search*>(user);
        for (uint64_t i = 0; i < module->kernelCount && !search.isFound; ++i)
          if (const char* name = module->kernels[i].name)
            search.isFound = search.file.find(name) != nullptr;
      },
      &search);
  return search.isFound;
}

/// Whether a kernel has the code of an entry, under another name. Reads all code of the program.
bool hasCodeOf(const tuned::File& file) {
  if (file.names.empty())
    return false;
  std::vector<const mneme_module_entry*> modules;
  mneme_rt_visit_modules(
      [](void* user, const mneme_module_entry* module) {
        static_cast<std::vector<const mneme_module_entry*>*>(user)->push_back(module);
      },
      &modules);
  bool isFound = false;
  CodeReader reader([&](const embed::KernelBlob& kernel) {
    return isFound |= file.names.contains(kernel.codeHash);
  });
  for (const mneme_module_entry* module : modules)
    if (!isFound)
      reader.visit(module);
  return isFound;
}

/// Why the file changes nothing in this program; empty if it may.
std::string whyIdle(const tuned::File& file, const std::filesystem::path& path) {
  const std::string begin = "PROTEUS_TUNED_KERNELS changes nothing: '" + path.string() + "' ";
  if (file.kernels.empty())
    return file.warnings.empty() ? begin + "names no kernel" : "";
  if (isRegistered(file) || mneme_rt_modules_are_expected() || hasCodeOf(file))
    return "";
  std::set<std::string> names; // in an order that does not change
  for (const auto& [name, kernel] : file.kernels)
    names.insert(name);
  std::string list;
  size_t listed = 0;
  for (const std::string& name : names)
    if (++listed <= kNamesShown)
      list += (listed == 1 ? "'" : ", '") + name + "'";
  return begin + "is for " + std::to_string(names.size()) + " kernel(s) (" + list +
         (listed > kNamesShown ? ", ..." : "") +
         "), none of which is in this program and the libraries it has loaded so far";
}

tuned::File readTuned(const Settings& settings) {
  try {
    const auto otherKinds =
        settings.hasMarks ? tuned::OtherKinds::AreDropped : tuned::OtherKinds::AreRefused;
    return apart(
        [&] { return tuned::readFile(startDirectory() / settings.tunedKernels, otherKinds); });
  } catch (const Error& error) {
    if (settings.hasMarks)
      refuse(error.what());
    throw;
  }
}

/// What a program with marks sets itself comes too late; libmneme_rt was there when it began.
Settings settingsOfProgram(std::vector<std::string>& warnings) {
  keptEnvironment = {mneme_rt_environment(), mneme_rt_directory()};
  const bool hasMarks = mneme_jit_is_expected() != 0;
  Settings settings = readSettings(hasMarks ? keptValue : environmentValue, warnings);
  settings.hasMarks = hasMarks;
  if (hasMarks)
    refuseNonsense(settings);
  return settings;
}

const mneme_hooks* start() {
  std::vector<std::string> warnings;
  Settings settings = settingsOfProgram(warnings);
  for (const std::string& warning : warnings)
    noticeOnce(warning);
  if (settings.tunedKernels.empty() && !settings.hasMarks)
    return nullptr;
  if (settings.hasMarks) {
    settings.trace = settings.asked;
    writeTimeTraceAtExit(settings);
  }
  completeLevels(settings);
  tuned::File file;
  std::string why = "there is no such file";
  if (!settings.tunedKernels.empty()) {
    file = readTuned(settings);
    for (const std::string& warning : file.warnings)
      noticeOnce(warning);
    const bool isForOthers = !file.kernels.empty();
    keepOnly(file, tuned::CodeKind::WithIr); // the rest is libmneme_loaded's
    why = isForOthers && file.kernels.empty() ? "" : whyIdle(file, settings.tunedKernels);
    if (!why.empty())
      noticeOnce(why);
  }
  if (file.kernels.empty() && !settings.hasMarks)
    return nullptr;
  Services services = realServices(settings);
  theEngine = new Engine(std::move(settings), std::move(file), std::move(services));
  if (why.empty())
    theEngine->expectLaunches();
  theEngine->announce();
  pthread_atfork(nullptr, nullptr, [] { theEngine->turnOff(); });
  std::atexit([] { theEngine->report(); });
  tellModules(/*isForGpu=*/true);
  mneme_rt_set_graph_hook([](uint32_t vendor, void* exec, void* graph, uint32_t form) {
    theEngine->graphChanged(
        {.vendor = vendor, .exec = exec, .graph = graph, .isUpdate = form == MNEME_GRAPH_UPDATED});
  });
  static constexpr mneme_hooks hooks{
      MNEME_RT_ABI, nullptr,
      [](void*, const mneme_launch* launch) { return theEngine->launch(*launch); },
      [](void*, const mneme_module_entry* module) { theEngine->forget(module); }};
  return &hooks;
}

} // namespace
} // namespace mneme::jit

void mneme_jit_check_settings(void) {
  try {
    mneme::useStandardErrorOf(mneme_rt_standard_error);
    std::vector<std::string> warnings; // the engines say them
    const mneme::jit::Settings settings = mneme::jit::settingsOfProgram(warnings);
    if (settings.hasMarks && !settings.tunedKernels.empty())
      mneme::jit::readTuned(settings);
  } catch (const std::exception&) { // no memory: the engines will see
  }
}

const mneme_hooks* mneme_jit_start(void) {
  try {
    mneme::useStandardErrorOf(mneme_rt_standard_error);
    return mneme::jit::start();
  } catch (const std::exception& error) {
    mneme::noticeOnce(
        mneme::sentence("kernels run as they were built, not as tuned: ", error.what()));
    return nullptr;
  }
}
