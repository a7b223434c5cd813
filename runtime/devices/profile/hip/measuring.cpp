// Room devices/profile: times of every kernel a program launches on AMD GPUs, through
// rocprofiler-sdk. This library is preloaded; where the program is linked to HIP, it opens the
// profiler's library beside HIP's and registers itself before HIP starts
// (rocprofiler_force_configure, "Tool library" in rocprofiler-sdk's documentation).
// ROCP_TOOL_LIBRARIES, which would do without preloading, ends a program whose ROCm has no
// rocprofiler-sdk (rocprofiler_register.cpp of ROCm/rocprofiler-register).
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "runtime/core/base/log.h"
#include "runtime/devices/profile/hip/rocprofiler.h"
#include "runtime/devices/profile/kernel_times.h"

namespace mneme::profile {

namespace {

using namespace rocprofiler;

constexpr std::array kHip = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
constexpr std::array kProfilers = {"librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0",
                                   "librocprofiler-sdk.so"};
/// Room for some 20,000 dispatches; the profiler hands them over from half of that on.
constexpr size_t kBufferBytes = size_t{4} << 20;

struct Kernel {
  std::string name;
  uint32_t staticBytes = 0;
};

/// Never destroyed: the profiler calls until the process ends.
struct Profiler {
  KernelTimes& times;
  Functions functions{};
  Handle context{}, buffer{};
  Client0 client0{};
  Client1 client1{}; ///< without a length: client0 is the one
  void* finalizeClient = nullptr;
  bool isFlushed = false;
  std::mutex mutex{};
  std::unordered_map<uint64_t, Kernel> kernels{}; ///< by number
  bool isDamaged = false;                         ///< records of another form came
};
Profiler* profiler = nullptr;

/// The name of a kernel from that of its descriptor, "_Z5scalePf.kd".
std::string nameOf(std::string_view symbol) {
  constexpr std::string_view descriptor = ".kd";
  if (symbol.ends_with(descriptor))
    symbol.remove_suffix(descriptor.size());
  return std::string(symbol);
}

template <typename Record> void noteSymbol(const Record& record) {
  if (record.operation != kKernelSymbol || record.phase != kPhaseLoad || !record.payload)
    return;
  const auto& symbol = *static_cast<const KernelSymbol*>(record.payload);
  if (symbol.sizeBytes < sizeof(KernelSymbol) || !symbol.name)
    return;
  const std::lock_guard lock(profiler->mutex);
  profiler->kernels[symbol.kernel] = {nameOf(symbol.name), symbol.groupBytes};
}

/// Only records of code objects are requested. Their kind, which lies where the older form has a
/// phase, distinguishes the two forms of records.
void takeSymbol(CallbackRecord1 newer, void*, void*) {
  CallbackRecord0 older;
  std::memcpy(&older, &newer, sizeof older);
  if (older.kind == kCallbackCodeObject && older.phase <= kPhaseUnload)
    noteSymbol(older);
  else if (newer.kind == kCallbackCodeObject)
    noteSymbol(newer);
}

void note(const DispatchRecord& record) {
  if (record.startNs == 0 || record.endNs < record.startNs)
    return;
  device::LaunchShape shape;
  const auto blocks = [](uint32_t threads, uint32_t block) {
    return block ? (threads + block - 1) / block : 0;
  };
  shape.block[0] = record.workgroup.x;
  shape.block[1] = record.workgroup.y;
  shape.block[2] = record.workgroup.z;
  shape.grid[0] = blocks(record.grid.x, record.workgroup.x);
  shape.grid[1] = blocks(record.grid.y, record.workgroup.y);
  shape.grid[2] = blocks(record.grid.z, record.workgroup.z);
  Kernel kernel;
  {
    const std::lock_guard lock(profiler->mutex);
    const auto found = profiler->kernels.find(record.kernel);
    if (found == profiler->kernels.end())
      return;
    kernel = found->second;
  }
  if (record.groupBytes > kernel.staticBytes)
    shape.dynamicSharedBytes = record.groupBytes - kernel.staticBytes;
  profiler->times.note(kernel.name, shape, record.endNs - record.startNs);
}

void takeRecords(Handle, Handle, RecordHeader** headers, size_t count, void*, uint64_t) {
  for (size_t index = 0; index < count; ++index) {
    const RecordHeader& header = *headers[index];
    if (header.category != kCategoryTracing || header.kind != kBufferDispatch || !header.payload)
      continue;
    const auto& record = *static_cast<const DispatchRecord*>(header.payload);
    if (isAsDeclared(record))
      note(record);
    else if (!std::exchange(profiler->isDamaged, true))
      notice("kernels are not measured: this rocprofiler-sdk has records of another form (" +
             std::to_string(record.sizeBytes) + " bytes)");
  }
}

int initialize(void* finalizeClient, void*) {
  const Functions& call = profiler->functions;
  Profiler& own = *profiler;
  own.finalizeClient = finalizeClient;
  const bool isStarted = call.createContext(&own.context) == kSuccess &&
                         call.configureCallbackTracing(own.context, kCallbackCodeObject, nullptr, 0,
                                                       takeSymbol, nullptr) == kSuccess &&
                         call.createBuffer(own.context, kBufferBytes, kBufferBytes / 2, kLossless,
                                           takeRecords, nullptr, &own.buffer) == kSuccess &&
                         call.configureBufferTracing(own.context, kBufferDispatch, nullptr, 0,
                                                     own.buffer) == kSuccess &&
                         call.startContext(own.context) == kSuccess;
  if (!isStarted)
    notice("kernels are not measured: rocprofiler-sdk does not trace kernels here");
  return isStarted ? 0 : -1;
}

void finalize(void*) {
  if (!std::exchange(profiler->isFlushed, true))
    profiler->functions.flushBuffer(profiler->buffer);
}

ConfigureResult* configure(uint32_t, const char*, uint32_t, void* client) {
  if (hasLength(client))
    profiler->client1 = *static_cast<const Client1*>(client);
  else
    profiler->client0 = *static_cast<const Client0*>(client);
  static ConfigureResult result{sizeof(ConfigureResult), initialize, finalize, nullptr};
  return &result;
}

/// Waits for what was launched and hands the rest over. The profiler does so at exit, but libraries
/// that were loaded before main() began have their exit handlers called one library after the
/// other: ours, which write the file, first.
void fetchTheRest() {
  if (!profiler->finalizeClient)
    return;
  if (!profiler->client1.sizeBytes)
    reinterpret_cast<void (*)(Client0)>(profiler->finalizeClient)(profiler->client0);
  else
    reinterpret_cast<void (*)(Client1)>(profiler->finalizeClient)(profiler->client1);
  finalize(nullptr); // of a version that did not know us by this: what is there
}

/// Where the HIP of this process lies; empty: it has none.
std::filesystem::path directoryOfHip() {
  for (const char* name : kHip)
    if (void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {
      Dl_info facts{};
      void* const symbol = dlsym(library, "hipInit");
      const bool isFound = symbol && dladdr(symbol, &facts) && facts.dli_fname;
      dlclose(library);
      if (isFound)
        return std::filesystem::path(facts.dli_fname).parent_path();
    }
  return {};
}

/// In the global scope: HIP's registration looks for it there first.
void* openProfiler(const std::filesystem::path& directory) {
  for (const std::filesystem::path& place : {directory, std::filesystem::path()})
    for (const char* name : kProfilers)
      if (void* const library = dlopen((place / name).c_str(), RTLD_LAZY | RTLD_GLOBAL))
        return library;
  return nullptr;
}

template <typename Function> bool find(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function;
}

void start() {
  if (directory().empty())
    return;
  const std::filesystem::path hip = directoryOfHip();
  if (hip.empty())
    return;
  void* const library = openProfiler(hip);
  if (!library)
    return notice("kernels are not measured: there is no librocprofiler-sdk.so (ROCm 6.2 or newer) "
                  "beside HIP in " +
                  hip.string());
  KernelTimes* const times = kernelTimes("rocprofiler");
  if (!times)
    return;
  profiler = new Profiler{*times};
  std::atexit(fetchTheRest); // exit handlers run in reverse order: before the file is written
  Functions& call = profiler->functions;
  const bool isWhole =
      find(library, call.forceConfigure, "rocprofiler_force_configure") &&
      find(library, call.createContext, "rocprofiler_create_context") &&
      find(library, call.createBuffer, "rocprofiler_create_buffer") &&
      find(library, call.configureBufferTracing, "rocprofiler_configure_buffer_tracing_service") &&
      find(library, call.configureCallbackTracing,
           "rocprofiler_configure_callback_tracing_service") &&
      find(library, call.startContext, "rocprofiler_start_context") &&
      find(library, call.flushBuffer, "rocprofiler_flush_buffer");
  if (!isWhole)
    notice("kernels are not measured: this rocprofiler-sdk lacks functions of 6.2");
  else if (call.forceConfigure(configure) != kSuccess)
    notice("kernels are not measured: another profiler has rocprofiler-sdk already");
}

[[gnu::constructor]] void startBeforeHip() {
  try {
    start();
  } catch (const std::exception& failure) {
    notice(std::string("kernels are not measured: ") + failure.what());
  }
}

} // namespace

} // namespace mneme::profile
