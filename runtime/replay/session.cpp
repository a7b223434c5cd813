// Room replay: a recorded instance on a device, and experiments with it.
#include "runtime/replay/replay.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>

#include "runtime/core/abi/read_words.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/base/error.h"
#include "runtime/devices/device.h"
#include "runtime/replay/build.h"
#include "runtime/replay/build_licence.h"
#include "runtime/replay/code_without_ir.h"
#include "runtime/replay/experiment.h"
#include "runtime/replay/kernel_output.h"
#include "runtime/replay/labels.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/recorded_code.h"
#include "runtime/replay/recorded_part.h"
#include "runtime/replay/session_impl.h"
#include "runtime/replay/text.h"

namespace mneme::replay {

namespace {

/// For a kernel that failed.
constexpr const char* kGuardHint = " (32 MiB around recorded memory can be read, but not written)";

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

uint32_t ordinalOf(const std::string& deviceId) {
  const size_t colon = deviceId.find(':');
  return colon == std::string::npos ? 0 : std::strtoul(deviceId.c_str() + colon + 1, nullptr, 10);
}

} // namespace

Session::Session(const std::filesystem::path& path, const std::string& recordId,
                 const std::string& deviceId, const SessionOptions& options) {
  open(path, recordId, [&] { return device::openDevice(deviceId); }, options);
}

Session::Session(const std::filesystem::path& path, const std::string& recordId,
                 std::unique_ptr<device::Device> device, const SessionOptions& options) {
  open(path, recordId, [&] { return std::move(device); }, options);
}

void Session::open(const std::filesystem::path& path, const std::string& recordId,
                   const std::function<std::unique_ptr<device::Device>()>& openDevice,
                   const SessionOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  impl_ = std::make_unique<Impl>();
  Impl& s = *impl_;
  s.record = artifact::KernelRecord::load(path);
  s.instance = chooseInstance(s.record, recordId);
  const std::filesystem::path directory = path.parent_path();
  s.modules = readModules(s.record, path);
  s.record.readImages(directory);
  s.prologue = std::make_unique<artifact::Snapshot>(
      artifact::Snapshot::open(directory / s.instance.prologue));
  s.epilogue = std::make_unique<artifact::Snapshot>(
      artifact::Snapshot::open(directory / s.instance.epilogue));
  const double deviceStart = secondsSince(start);
  s.device = openDevice();
  checkRunsOn(s.record, s.device->description());
  s.part = useRecordedPart(*s.device, s.instance.part);
  s.device->raiseLimits(s.instance.limits);
  const double uploadStart = secondsSince(start);
  s.image = std::make_unique<MemoryImage>(*s.device, s.record, *s.prologue, *s.epilogue,
                                          options.goldenBytesLimit, s.instance.heap);
  s.textures = std::make_unique<Textures>(*s.device, s.record, s.instance, *s.image);
  s.deviceOpenSeconds = uploadStart - deviceStart;
  s.uploadSeconds = secondsSince(start) - uploadStart;
  s.labels =
      makeLabels(s.image->sites(), s.record.args, s.prologue->args(), s.record.demangledName);
  nameArrays(s.labels, *s.image, s.instance.textures);
  s.types = std::make_unique<ElementTypes>(s.labels, [this] { return describeElements(); });
  s.modulesOnDevice = std::make_unique<ModuleCache>(*s.device, *s.image, s.record.kernelName);
  s.openSeconds = secondsSince(start);
}

Session::~Session() {
  const KernelOutput redirected; // a device may still hold what kernels printed
  impl_.reset();
}

Configuration Session::recorded() const {
  Configuration configuration;
  configuration.grid = impl_->instance.grid;
  configuration.block = impl_->instance.block;
  configuration.sharedBytes = impl_->instance.sharedBytes;
  configuration.maxThreads = 1024;
  configuration.minBlocksPerSm = 1;
  return configuration;
}

std::string Session::describeElements() const {
  const Impl& s = *impl_;
  if (!hasIr(s.record))
    return "{}";
  const CodeTarget target{.name = s.device->description().target};
  compile::Request request =
      makeRequest(s.record, s.modules, s.textures->arguments(), target, recorded(), {});
  request.wantElements = true;
  return compile::compile(request).statisticsJson;
}

CodeTarget Session::codeTarget() const { return codeTargetOf(*impl_->device, *impl_->image); }

std::string Session::build(const Configuration& configuration, const Options& options) {
  Impl& s = *impl_;
  device::checkShape(limitsOf(*s.device, s.record), launchShape(s.instance, configuration), 0);
  const auto request = [&] {
    return makeRequest(s.record, s.modules, s.textures->arguments(),
                       codeTargetOf(*s.device, *s.image), configuration, options);
  };
  return s.modulesOnDevice->build(s.record, s.modules, configuration, options, request)
      ->statisticsJson;
}

Result Session::run(const Configuration& configuration, const Options& options) {
  Impl& s = *impl_;
  Result result;
  result.startTime = timeText();
  result.device = s.device->description().id;
  result.gpuId = ordinalOf(result.device);
  result.multiprocessors = s.device->description().multiprocessors;
  result.part = s.part;
  result.openSeconds = s.openSeconds;
  result.deviceOpenSeconds = s.deviceOpenSeconds;
  result.uploadSeconds = s.uploadSeconds;
  Experiment experiment({.record = s.record,
                         .instance = s.instance,
                         .modules = s.modules,
                         .values = s.textures->arguments(),
                         .device = *s.device,
                         .image = *s.image,
                         .textures = *s.textures,
                         .labels = s.labels,
                         .types = *s.types,
                         .cache = *s.modulesOnDevice,
                         .isMemoryTrusted = s.isMemoryTrusted,
                         .isMemoryFresh = s.isMemoryFresh},
                        configuration, options, result);
  const auto fail = [&](const std::string& message) {
    result.failed = true;
    result.verified = false;
    result.resultClass = ResultClass::Failed;
    result.error = message;
    if (result.unrecordedReads.empty())
      std::ranges::copy_if(readsIn(s.record.optionsJson),
                           std::back_inserter(result.unrecordedReads),
                           [](const auto& read) { return read == read_words::kLaunches; });
    if (const std::string reads = explainReads(result.unrecordedReads); !reads.empty())
      result.error += ". " + reads;
    s.isMemoryTrusted = false;
  };
  const KernelOutput redirected;
  try {
    experiment.perform();
    s.image->waitForRestore(); // devices hand over what kernels printed when they are waited for
  } catch (const Error& error) {
    std::string message = error.what();
    if (s.image->hasGuards() && message.find("illegal") != message.npos)
      message += kGuardHint;
    fail(message);
  } catch (const std::bad_alloc&) {
    fail("the host has not enough memory for this replay");
  } catch (const std::exception& error) {
    fail(std::string("the replay failed inside mneme: ") + error.what());
  }
  result.timer = s.device->timerName();
  result.isDeviceUsable = s.device->isUsable();
  result.endTime = timeText();
  return result;
}

} // namespace mneme::replay
