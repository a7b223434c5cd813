#include "runtime/jit/missing_code/code.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <dlfcn.h>

#include "runtime/compiler/service/disk_cache.h"
#include "runtime/compiler/service/library_identity.h"
#include "runtime/compiler/service/service.h"
#include "runtime/core/abi/mneme_jit.h"
#include "runtime/core/abi/variable_names.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/parallel.h"
#include "runtime/core/base/sentence.h"
#include "runtime/core/base/standard_error.h"
#include "runtime/core/embed/blob_set.h"
#include "runtime/jit/kernel_code.h"
#include "runtime/jit/missing_code/architectures.h"

namespace mneme::missing {
namespace {

constexpr uint32_t kCudaVendor = 0;
constexpr const char* kSetting = "MNEME_COMPILE_FOR_GPU";

/// Code for one architecture that one unit lacks.
struct Code {
  unsigned architecture = 0;
  Hash128 key = {};
  std::vector<std::byte> image = {}; ///< empty: still to be compiled
  std::string problem = {};
};

struct Unit {
  const FatbinWrapper* wrapper = nullptr;
  std::vector<Code> codes = {}; ///< that it lacks
  std::vector<std::byte> fatbin = {};
  FatbinWrapper completed = {};
  bool isTaken = false; ///< the program has registered it

  /// The fat binary that the unit was built with.
  Bytes code() const { return embed::imageInMemory(wrapper->data); }
};

/// Nothing if the unit carries no IR.
std::optional<compile::Request> requestFor(Bytes fatbin, unsigned architecture) {
  const embed::BlobSet blobs = embed::readDeviceImage(fatbin);
  if (blobs.kernels.empty())
    return std::nullopt;
  compile::Request request;
  request.kernel = kUnitsOwnCode;
  request.target = "sm_" + std::to_string(architecture);
  for (const auto& [name, blob] : blobs.kernels)
    request.modules.push_back(blob->bitcode);
  for (const auto& blob : blobs.modules)
    request.modules.push_back(blob->bitcode);
  request.optionsJson = jit::buildOptionsOf(*blobs.kernels.begin()->second);
  request.passes = jit::pipelineOf(request.optionsJson);
  return request;
}

/// Where images are kept, and what identifies the compiler that made them.
struct Store {
  std::optional<std::filesystem::path> directory = compile::cacheDirectory();
  std::string compiler = compile::compilerIdentity(compile::compileLibraryPath());

  /// Reads the image of a unit's code. Returns false if it was not compiled yet.
  bool find(Bytes fatbin, Code& code) const {
    const std::string facts =
        toHex(hash128(fatbin)) + " sm_" + std::to_string(code.architecture) + " " + compiler;
    code.key = hash128(std::as_bytes(std::span(facts)));
    auto stored = directory ? compile::loadCached(*directory, code.key) : std::nullopt;
    if (stored)
      code.image = std::move(stored->image);
    return stored.has_value();
  }
  void keep(const Code& code) const {
    if (!directory)
      return;
    compile::Result result;
    result.image = code.image;
    const std::string problem =
        compile::storeCached(*directory, code.key, result, compile::cacheBytesLimit());
    if (!problem.empty())
      log(LogLevel::Info, "compiled code was not stored: " + problem);
  }
};

bool isOnCpuDevice() { return dlsym(RTLD_DEFAULT, "mneme_cudart_load_variant") != nullptr; }

/// The architectures to have code for: the machine's, or those that the user names.
std::vector<unsigned> wantedArchitectures() {
  const char* const setting = environmentValue(kSetting);
  const std::string wanted = setting ? setting : "";
  if (wanted == "0")
    return {};
  if (!wanted.empty() && wanted != "1")
    return architecturesIn(wanted);
  return isOnCpuDevice() ? std::vector<unsigned>() : gpuArchitectures();
}

/// "sm_80 and sm_90".
std::string listOf(std::vector<unsigned> architectures) {
  std::ranges::sort(architectures);
  const auto repeated = std::ranges::unique(architectures);
  architectures.erase(repeated.begin(), repeated.end());
  std::string list;
  for (const unsigned architecture : architectures)
    list += (list.empty() ? "sm_" : " and sm_") + std::to_string(architecture);
  return list;
}

/// Units by the wrapper that the program registers.
class Units {
public:
  const void* find(const void* wrapper) {
    const std::lock_guard lock(mutex_);
    if (!wanted_)
      wanted_ = wantedArchitectures();
    if (wanted_->empty())
      return nullptr;
    // A library may be where one was that is unloaded.
    if (const auto known = units_.find(wrapper); known != units_.end() && known->second.isTaken)
      units_.erase(known);
    if (!units_.contains(wrapper))
      completeRegistered(wrapper);
    Unit& unit = units_[wrapper];
    unit.isTaken = true;
    return unit.fatbin.empty() ? nullptr : &unit.completed;
  }

private:
  struct Task {
    Unit* unit;
    Code* code;
  };

  /// The first unit of a shared object comes when all of them are known: they are compiled
  /// together.
  void completeRegistered(const void* wrapper) {
    std::vector<Unit*> lacking;
    const auto add = [&](const void* one) {
      const auto [place, isNew] = units_.try_emplace(one);
      if (isNew && lacksCode(place->second, one))
        lacking.push_back(&place->second);
    };
    add(wrapper);
    for (const void* other : registeredWrappers())
      add(other);
    if (lacking.empty())
      return;
    const Store store;
    std::vector<Task> tasks;
    for (Unit* unit : lacking)
      for (Code& code : unit->codes)
        if (!store.find(unit->code(), code))
          tasks.push_back({unit, &code});
    compileAll(tasks, store);
    for (Unit* unit : lacking)
      complete(*unit);
  }

  static std::vector<const void*> registeredWrappers() {
    std::vector<const void*> wrappers;
    mneme_rt_visit_modules(
        [](void* user, const mneme_module_entry* module) {
          if (module->vendor == kCudaVendor && module->fatbinWrapper)
            static_cast<std::vector<const void*>*>(user)->push_back(module->fatbinWrapper);
        },
        &wrappers);
    return wrappers;
  }

  bool lacksCode(Unit& unit, const void* wrapper) const {
    unit.wrapper = static_cast<const FatbinWrapper*>(wrapper);
    try {
      const std::vector<embed::FatMember> members = embed::fatBinaryMembers(unit.code());
      for (const unsigned architecture : *wanted_)
        if (!isServed(architecture, members))
          unit.codes.push_back({.architecture = architecture});
    } catch (const std::exception& error) { // the runtime reports what is wrong with it
      log(LogLevel::Info, error.what());
    }
    return !unit.codes.empty();
  }

  static void compileAll(const std::vector<Task>& tasks, const Store& store) {
    if (tasks.empty())
      return;
    std::vector<unsigned> architectures;
    for (const Task& task : tasks)
      architectures.push_back(task.code->architecture);
    notice("this program has no code for " + listOf(architectures) +
           ": compiling it from the IR of its kernels, once; " + kSetting + "=0 leaves it");
    parallelFor(tasks.size(), std::max(1u, std::thread::hardware_concurrency()),
                [&](uint64_t index) { compileOne(*tasks[index].unit, *tasks[index].code, store); });
    for (const Task& task : tasks)
      if (!task.code->problem.empty())
        noticeOnce("kernels of this program cannot be compiled for " +
                   listOf({task.code->architecture}) + ": " + task.code->problem);
  }

  static void compileOne(const Unit& unit, Code& code, const Store& store) {
    try {
      const auto request = requestFor(embed::imageInMemory(unit.wrapper->data), code.architecture);
      if (!request) {
        code.problem = "they carry no IR; build them with mneme";
        return;
      }
      code.image = compile::compileApart(*request, {.cacheDirectory = {}}).image;
      store.keep(code);
    } catch (const std::exception& error) {
      code.problem = error.what();
    }
  }

  /// Adds what there is now to the unit's own code.
  static void complete(Unit& unit) {
    for (Code& code : unit.codes) {
      if (code.image.empty())
        continue;
      const Bytes before = unit.fatbin.empty() ? unit.code() : Bytes(unit.fatbin);
      unit.fatbin = embed::withMember(before, code.image, code.architecture);
      code.image = {};
    }
    unit.completed = *unit.wrapper;
    unit.completed.data = unit.fatbin.data();
  }

  std::mutex mutex_;
  std::optional<std::vector<unsigned>> wanted_;
  std::map<const void*, Unit> units_; ///< nodes stay where they are
};

} // namespace

bool isServed(unsigned architecture, std::span<const embed::FatMember> members) {
  return std::ranges::any_of(members, [&](const embed::FatMember& member) {
    return member.form != embed::CodeForm::LtoIr && member.runsOn(architecture);
  });
}

const void* wrapperFor(const void* wrapper) {
  static Units& units = *new Units; // never destroyed: the runtime keeps what it was given
  return units.find(wrapper);
}

} // namespace mneme::missing

const void* mneme_jit_complete_code(const void* wrapper) {
  try {
    mneme::keptEnvironment = {mneme_rt_environment(), mneme_rt_directory()};
    mneme::useStandardErrorOf(mneme_rt_standard_error);
    return mneme::missing::wrapperFor(wrapper);
  } catch (const std::exception& error) {
    mneme::noticeOnce(mneme::sentence(
        "code for the GPU here is not compiled from the IR of this program: ", error.what()));
    return nullptr;
  }
}
