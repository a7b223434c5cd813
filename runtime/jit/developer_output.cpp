#include "runtime/jit/developer_output.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "runtime/compiler/service/source.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/base/sentence.h"
#include "runtime/core/base/start_directory.h"

namespace mneme::jit {
namespace {

constexpr const char* kLogDirectory = ".proteus-logs";

/// The traces of all compilations. Never destroyed.
struct TimeTraces {
  std::mutex mutex;
  std::filesystem::path file; ///< empty: nothing is written
  nlohmann::json events = nlohmann::json::array();
  int64_t begin = 0; ///< microseconds, of the first one; the others are moved
};

TimeTraces& timeTraces() {
  static auto& traces = *new TimeTraces;
  return traces;
}

void keepTimeTrace(const std::string& text) {
  TimeTraces& traces = timeTraces();
  const nlohmann::json trace = nlohmann::json::parse(text);
  const int64_t begin = trace.value("beginningOfTime", int64_t{0});
  const std::lock_guard lock(traces.mutex);
  if (traces.events.empty())
    traces.begin = begin;
  for (nlohmann::json event : trace.at("traceEvents")) {
    if (event.contains("ts"))
      event["ts"] = event["ts"].get<int64_t>() + begin - traces.begin;
    traces.events.push_back(std::move(event));
  }
}

void writeTimeTrace() noexcept {
  try {
    TimeTraces& traces = timeTraces();
    const std::lock_guard lock(traces.mutex);
    const nlohmann::json whole{{"traceEvents", traces.events}, {"beginningOfTime", traces.begin}};
    runApart([&] { writeFileAtomically(traces.file, whole.dump()); });
  } catch (const std::exception& error) {
    noticeOnce(sentence("the time trace is not written: ", error.what()));
  }
}

void writeLogs(const std::string& name, uint64_t hash, const compile::Result& result) {
  const std::filesystem::path folder(kLogDirectory);
  std::filesystem::create_directories(folder);
  const std::string process = std::to_string(getpid());
  const std::string number = std::to_string(hash);
  std::ofstream(folder / ("proteus." + process + ".log"), std::ios::app)
      << name + " hash " + number + "\n" + result.trace;
  writeFileAtomically(folder / (process + "." + number + ".input.ll"), result.linkedIr);
  writeFileAtomically(folder / (process + "." + number + ".specialized.ll"), result.specializedIr);
}

} // namespace

void askForMore(compile::Request& request, const Settings& settings) {
  request.timeTraceGrain = settings.timeTraceGrain;
  request.wantStages = settings.namesFunctions;
  request.wantTrace |= settings.namesFunctions;
}

std::string timerLines(const Settings& settings, const compile::Request& request,
                       const compile::Result& result, const TimerWords& words) {
  if (!settings.trace.timers)
    return "";
  const nlohmann::json times = nlohmann::json::parse(result.statisticsJson, nullptr, false);
  const auto line = [](const std::string& what, const nlohmann::json& of, const char* time) {
    const double seconds = of.is_object() ? of.value(time, 0.0) : 0.0;
    return "[proteus] " + what + " " + std::to_string(std::llround(seconds * 1000)) + " ms\n";
  };
  std::string text;
  if (!request.sourceCompiler.empty())
    text += line("Compile source " + words.name, times, "source_time");
  if (request.target == compile::kSourceTarget)
    return text;
  const std::string optimize = "optimizeIR optlevel " + words.level + " codegenopt " +
                               std::to_string(request.codegenOptLevel);
  // A kernel has these, in the words for its kind of machine code.
  const nlohmann::json codegen = times.is_object() && times.contains("codegen_parts")
                                     ? times["codegen_parts"]
                                     : nlohmann::json::array();
  text += line("Parse IR " + words.name, times, "parse_time");
  const bool isModule = request.kernel.empty(); // as it is
  if (!codegen.empty() && !isModule)
    text += line("getLinkedModule", times, "link_time") +
            line("Cloning " + settings.marked.clone, times, "clone_time") +
            line("Extract kernel module", times, "extract_time");
  if (!isModule)
    text += line("specializeIR", times, "specialize_time");
  text += line(optimize, times, "opt_time");
  for (const nlohmann::json& part : codegen)
    text += line(part.value("word", ""), part, "time");
  return text;
}

void keepOutputs(const Settings& settings, const std::string& name, uint64_t hash,
                 const compile::Result& result) noexcept {
  try {
    if (!result.timeTrace.empty())
      keepTimeTrace(result.timeTrace);
    if (settings.namesFunctions)
      runApart([&] { writeLogs(name, hash, result); });
  } catch (const std::exception& error) { // nobody needs it to go on
    noticeOnce(sentence("what PROTEUS_DEBUG_OUTPUT asks for is not written: ", error.what()));
  }
}

void writeTimeTraceAtExit(const Settings& settings) {
  TimeTraces& traces = timeTraces();
  const std::lock_guard lock(traces.mutex);
  if (settings.timeTraceGrain == 0 || !traces.file.empty())
    return;
  traces.file = startDirectory() / settings.timeTraceFile;
  std::atexit(writeTimeTrace);
}

} // namespace mneme::jit
