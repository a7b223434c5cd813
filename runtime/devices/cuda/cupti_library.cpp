#include "runtime/devices/cuda/cupti_library.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/base/dynamic_library.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/devices/driving_tool.h"

namespace mneme::device::cuda {

namespace {

namespace fs = std::filesystem;

constexpr const char* names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

void addToolkit(std::vector<fs::path>& directories, const fs::path& root) {
  directories.push_back(root / "extras/CUPTI/lib64");
  directories.push_back(root / "lib64");
  directories.push_back(root / "lib");
}

void addPythonPackages(std::vector<fs::path>& directories, const fs::path& sitePackages) {
  directories.push_back(sitePackages / "nvidia/cu13/lib");
  directories.push_back(sitePackages / "nvidia/cuda_cupti/lib");
}

std::vector<fs::path> searchDirectories() {
  std::vector<fs::path> directories;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = environmentValue(variable); root && *root)
      addToolkit(directories, root);
  addToolkit(directories, "/usr/local/cuda");
  std::error_code ignored;
  if (const char* environment = environmentValue("VIRTUAL_ENV"))
    for (const auto& entry : fs::directory_iterator(fs::path(environment) / "lib", ignored))
      addPythonPackages(directories, entry.path() / "site-packages");
  // Installed as a Python package, this library is somewhere below site-packages.
  fs::path ours = directoryOfCode(reinterpret_cast<const void*>(&searchDirectories));
  for (int level = 0; level < 3 && ours.has_relative_path(); ++level, ours = ours.parent_path())
    addPythonPackages(directories, ours);
  return directories;
}

bool bind(const DynamicLibrary& library, CuptiFunctions& functions) {
  const auto find = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.findSymbol(name));
    return function != nullptr;
  };
  return find(functions.getVersion, "cuptiGetVersion") &&
         find(functions.getResultString, "cuptiGetResultString") &&
         find(functions.activityRegisterCallbacks, "cuptiActivityRegisterCallbacks") &&
         find(functions.activityEnable, "cuptiActivityEnable") &&
         find(functions.activityDisable, "cuptiActivityDisable") &&
         find(functions.activityFlushAll, "cuptiActivityFlushAll") &&
         find(functions.activityGetNextRecord, "cuptiActivityGetNextRecord");
}

/// Stays open: CUPTI hooks itself into the driver.
struct OpenCupti {
  DynamicLibrary library;
  std::string path;
  uint32_t version = 0;
  CuptiFunctions functions{};
};

OpenCupti* openAt(const std::string& path) {
  try {
    auto found = std::make_unique<OpenCupti>(DynamicLibrary::open(path), path);
    if (bind(found->library, found->functions) && found->functions.getVersion(&found->version) == 0)
      return found.release();
  } catch (const Error&) { // not here
  }
  return nullptr;
}

/// Returns null if none is installed.
const OpenCupti* openCupti() {
  static const OpenCupti* const opened = []() -> OpenCupti* {
    std::error_code ignored;
    for (const fs::path& directory : searchDirectories())
      for (const char* name : names)
        if (fs::exists(directory / name, ignored))
          if (OpenCupti* found = openAt(directory / name))
            return found;
    for (const char* name : names)
      if (OpenCupti* found = openAt(name))
        return found;
    return nullptr;
  }();
  return opened;
}

CounterFunctions bindCounters(const OpenCupti& cupti) {
  CounterFunctions functions;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        cupti.library.findSymbol(name));
    if (!function)
      throw Error(ErrorCode::BackendUnavailable,
                  "the CUPTI at '" + cupti.path +
                      "' cannot read hardware counters in the way that " + "mneme uses (it lacks " +
                      name + "); that of CUDA 12.6 and newer can");
  };
#define MNEME_CUPTI_FUNCTION(member, name, structure) find(functions.member, #name);
#include "runtime/devices/cuda/cupti_counter_functions.def"
#undef MNEME_CUPTI_FUNCTION
  functions.getResultString = cupti.functions.getResultString;
  return functions;
}

} // namespace

const CuptiFunctions* cuptiFunctions() {
  const char* wanted = environmentValue("MNEME_TIMER");
  if (wanted && std::string_view(wanted) == "events")
    return nullptr;
  if (const std::string tool = drivingTool(); !tool.empty()) {
    log(LogLevel::Info,
        "kernel times come from events: another tool drives this process (" + tool + ")");
    return nullptr;
  }
  const OpenCupti* found = openCupti();
  if (!found) {
    log(LogLevel::Info, "kernel times come from events: no CUPTI is installed");
    return nullptr;
  }
  log(LogLevel::Debug,
      "kernel times come from CUPTI " + std::to_string(found->version) + " (" + found->path + ")");
  return &found->functions;
}

const CounterFunctions& counterFunctions() {
  if (const std::string tool = drivingTool(); !tool.empty())
    throw Error(ErrorCode::BackendUnavailable,
                "hardware counters cannot be read: another tool drives this process (" + tool +
                    ")");
  const OpenCupti* found = openCupti();
  if (!found)
    throw Error(ErrorCode::BackendUnavailable,
                "hardware counters cannot be read: no CUPTI is installed; it comes with the CUDA "
                "toolkit, or 'pip install nvidia-cuda-cupti'");
  static const CounterFunctions functions = bindCounters(*found);
  return functions;
}

} // namespace mneme::device::cuda
