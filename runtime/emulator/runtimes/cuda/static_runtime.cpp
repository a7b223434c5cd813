#include "runtime/emulator/runtimes/cuda/static_runtime.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/cuda/device_facts.h"
#include "runtime/emulator/runtimes/cuda/jump.h"
#include "runtime/emulator/runtimes/cuda/jump_writer.h"
#include "runtime/emulator/runtimes/cuda/loaded_object.h"
#include "runtime/emulator/runtimes/cuda/static_runtime_lookup.h"

namespace mneme::cpu_runtime::cuda {
namespace {

constexpr const char* kRegistration = "__cudaRegisterFatBinary";

std::atomic<bool> isAnyReplaced{false};
/// How many objects had been loaded at the last look, since the program began; 0: none yet.
std::atomic<unsigned long long> loadsSeen{0};
/// How long to wait for the look of another thread.
constexpr std::chrono::milliseconds kRound{1};
constexpr int kMostRounds = 1000;
/// Is in this library.
const char here = 0;

std::string nameOf(const LoadedObject& object) {
  std::string path(object.path());
  if (path.empty()) {
    std::array<char, 4096> real{};
    const ssize_t length = readlink("/proc/self/exe", real.data(), real.size());
    path.assign(real.data(), length > 0 ? static_cast<size_t>(length) : 0);
  }
  return "'" + path.substr(path.rfind('/') + 1) + "'";
}

/// An object that was looked at and is still loaded.
struct Known {
  uintptr_t base;
  bool isLeft = false;       ///< with the runtime it may have
  bool isUnreadable = false; ///< without symbols, or a file
};

/// What earlier looks have found.
struct State {
  std::mutex mutex;
  std::vector<Known> known;
  unsigned long long unloads = 0;
  std::vector<Extent> reported; ///< in a sentence; may be unloaded
};

State& state() {
  // Libraries are loaded while the program ends, and in a child of fork(), too.
  static State* const kept = [] {
    pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); },
                   [] { state().mutex.unlock(); });
    return new State;
  }();
  return *kept;
}

/// A library whose functions come before all others' but the program's.
struct Provider {
  uintptr_t base;
  loaded::DynamicSymbols exports;
};

/// One look at all that is loaded, in the loader's order: the program, what is preloaded, the rest.
class Look {
public:
  Look(State& state, const void* unit) noexcept : state_(state), unit_(unit) {}

  void at(const dl_phdr_info& info) {
    loadsSeen.store(info.dlpi_adds, std::memory_order_relaxed);
    if (first_.empty() && info.dlpi_subs != state_.unloads) {
      state_.known.clear();
      state_.unloads = info.dlpi_subs;
    }
    if (hasPassedOurs_)
      return lookAt(info);
    first_.push_back(info);
    hasPassedOurs_ = LoadedObject(info).contains(&here);
    if (hasPassedOurs_)
      for (size_t index = 0; index + 1 < first_.size(); ++index)
        lookAt(first_[index]);
  }

private:
  void lookAt(const dl_phdr_info& info) {
    const auto found = std::ranges::find(state_.known, info.dlpi_addr, &Known::base);
    const bool isKnown = found != state_.known.end();
    if (isKnown && !(unit_ && (found->isLeft || found->isUnreadable)))
      return;
    const LoadedObject object(info);
    const bool isUnits = unit_ && object.contains(unit_);
    if (isKnown && !isUnits)
      return;
    Known& known = isKnown ? *found : state_.known.emplace_back(Known{.base = object.base()});
    // Every such runtime calls dlsym() to find the driver, and has this function itself.
    if (object.refersTo("dlsym") && !object.refersTo(kRegistration))
      replaceIn(object, isUnits, known);
  }

  void replaceIn(const LoadedObject& object, bool isUnits, Known& known) {
    const std::optional<StaticRuntimeFile> file = findStaticRuntime(object);
    known.isUnreadable = !isUnits && !(file && file->hasSymbols);
    known.isLeft = !object.path().empty() && !isUnits && file && file->hasDeviceCode &&
                   !object.needs(kInstrumentedLibrary);
    if (known.isLeft)
      return;
    const std::string name = nameOf(object);
    if (isUnits && !file)
      return report(object, name + " contains the static CUDA runtime, which cannot be replaced, "
                                   "since the file it was loaded from cannot be read: on the CPU "
                                   "device its calls fail; link the shared runtime");
    if (isUnits && !file->hasSymbols)
      return report(object, name + " contains the static CUDA runtime and is stripped, so that its "
                                   "functions cannot be found: on the CPU device its calls fail; "
                                   "do not strip it, or link the shared runtime");
    try {
      if (file && !file->functions.empty() && isServed(object, file->toolkit))
        replace(object, file->functions);
    } catch (const Error& error) {
      report(object, name + " contains the static CUDA runtime, which cannot be replaced (" +
                         error.what() +
                         "): on the CPU device its calls fail; link the shared runtime");
    }
  }

  void report(const LoadedObject& object, const std::string& sentence) {
    state_.reported.push_back(object.extent());
    noticeOnce(sentence);
  }

  /// Whether this library serves callers of a runtime of this release of CUDA; says if not.
  bool isServed(const LoadedObject& object, int toolkit) {
    const std::string name = nameOf(object);
    if (toolkit == 0) {
      report(object, name +
                         " contains the static CUDA runtime, which is neither CUDA 12's nor CUDA "
                         "13's: on the CPU device its calls fail; build it with one of these");
      return false;
    }
    const int served = serveToolkit(toolkit);
    if (served != toolkit)
      report(object, name + " contains the static runtime of CUDA " + std::to_string(toolkit) +
                         ", in a process that uses that of CUDA " + std::to_string(served) +
                         ": on the CPU device its calls fail; build both with the same CUDA");
    return served == toolkit;
  }

  void replace(const LoadedObject& object, const std::vector<RuntimeFunction>& functions) {
    std::vector<JumpPlace> places;
    for (const RuntimeFunction& function : functions) {
      const uintptr_t address = object.base() + function.start;
      if (!object.isCode(address, function.bytes))
        continue;
      const void* const code = reinterpret_cast<const void*>(address);
      const void* const target = targetOf(function.name.c_str());
      if (target && function.bytes >= jumpBytes(code) && !isJump(code))
        places.push_back({address, target});
    }
    writeJumps(object, places);
    if (!places.empty())
      isAnyReplaced = true;
  }

  /// What a program without this function calls: a preloaded recorder's comes before ours.
  const void* targetOf(const char* name) {
    if (providers_.empty())
      for (size_t index = 1; index < first_.size(); ++index)
        providers_.push_back({first_[index].dlpi_addr, LoadedObject(first_[index]).exports()});
    for (const Provider& provider : providers_)
      if (const ElfW(Sym)* const found = provider.exports.find(name))
        return reinterpret_cast<const void*>(provider.base + found->st_value);
    return nullptr;
  }

  State& state_;
  const void* unit_;
  std::vector<dl_phdr_info> first_; ///< the program to this library
  bool hasPassedOurs_ = false;
  std::vector<Provider> providers_;
};

int look(dl_phdr_info* info, size_t, void* user) {
  static_cast<Look*>(user)->at(*info);
  return 0;
}

/// The mutex must be taken.
void lookAtAll(const void* unit) {
  const int shared = sharedToolkit();
  const int served = shared != 0 ? serveToolkit(shared) : 0;
  if (served != shared && isAnyReplaced)
    noticeOnce("a library is linked to the runtime of CUDA " + std::to_string(shared) +
               ", in a process that uses that of CUDA " + std::to_string(served) +
               ": on the CPU device its calls may fail; build both with the same CUDA");
  Look now(state(), unit);
  dl_iterate_phdr(look, &now);
}

unsigned long long countLoads() noexcept {
  unsigned long long loads = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* user) {
        *static_cast<unsigned long long*>(user) = info->dlpi_adds;
        return 1;
      },
      &loads);
  return loads;
}

/// Before the program's own constructors, which register its code.
[[gnu::constructor]] void replaceAtStart() { replaceStaticRuntimes(nullptr); }

} // namespace

void replaceStaticRuntimes(const void* unit) noexcept {
  if (!hasJumps())
    return;
  const int error = errno;
  try {
    // Under the loader's lock no library is unloaded. What needs its other lock, such as dladdr(),
    // must not be called: a thread that has it may wait for this mutex.
    const std::scoped_lock lock(state().mutex);
    lookAtAll(unit);
  } catch (...) { // no memory: such runtimes find no GPU
  }
  errno = error;
}

void replaceStaticRuntimesLoadedSince() noexcept {
  const unsigned long long seen = loadsSeen.load(std::memory_order_relaxed);
  if (seen == 0 || seen == countLoads())
    return;
  const int error = errno;
  try {
    // The caller may be in a callback of the loader's, for which another thread's look waits.
    std::unique_lock lock(state().mutex, std::try_to_lock);
    for (int rounds = 0; !lock && rounds < kMostRounds; ++rounds) {
      std::this_thread::sleep_for(kRound);
      lock.try_lock();
    }
    if (lock)
      lookAtAll(nullptr);
  } catch (...) { // as above
  }
  errno = error;
}

bool isReportedUnreplaced(const void* caller) noexcept {
  const std::scoped_lock lock(state().mutex);
  const auto address = reinterpret_cast<uintptr_t>(caller);
  return std::ranges::any_of(state().reported, [&](const Extent& extent) {
    return address >= extent.first && address < extent.end;
  });
}

bool isReplaced(const void* function) noexcept {
  return function ? isAnyReplaced && isJump(function) : isAnyReplaced.load();
}

} // namespace mneme::cpu_runtime::cuda
