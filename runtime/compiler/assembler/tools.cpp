#include "runtime/compiler/assembler/tools.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "runtime/core/base/dynamic_library.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

constexpr const char* kLibraryNames[] = {"libnvJitLink.so.13", "libnvJitLink.so.12"};
constexpr const char* kVariables[] = {
    "MNEME_ASSEMBLER", "MNEME_PTXAS", "MNEME_NVJITLINK", "MNEME_CUDA_ROOT", "CUDA_HOME",
    "CUDA_PATH",       "PATH",        "LD_LIBRARY_PATH", "VIRTUAL_ENV"};

std::string variable(const char* name) {
  const char* value = environmentValue(name);
  return value ? value : "";
}

bool isFile(const std::string& path, int mode) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), mode) == 0;
}

std::vector<std::string> listed(const char* name) {
  std::vector<std::string> directories;
  std::istringstream list(variable(name));
  for (std::string directory; std::getline(list, directory, ':');)
    if (!directory.empty())
      directories.push_back(directory);
  return directories;
}

std::vector<std::string> toolkitRoots() {
  std::vector<std::string> roots;
  for (const char* name : {"MNEME_CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"})
    if (const std::string root = variable(name); !root.empty())
      roots.push_back(root);
  return roots;
}

/// Where Python's packages are: beside the package that holds this code, and of the active
/// environment.
std::vector<std::string> packageDirectories(const std::string& here) {
  std::vector<std::string> directories = {here + "/..", here + "/../.."};
  const std::string environment = variable("VIRTUAL_ENV");
  std::error_code isMissing;
  if (environment.empty())
    return directories;
  using Iterator = std::filesystem::directory_iterator;
  for (Iterator one(environment + "/lib", isMissing); !isMissing && one != Iterator();
       one.increment(isMissing))
    directories.push_back(one->path() / "site-packages");
  std::sort(directories.begin() + 2, directories.end());
  return directories;
}

/// Where toolkits are that no variable names, in the order in which the compiler's wrappers look.
std::vector<std::string> usualRoots() {
  const std::string here = directoryOfCode(reinterpret_cast<const void*>(&findAssembler));
  std::vector<std::string> roots;
  for (const std::string& packages : packageDirectories(here))
    for (const char* toolkit : {"/nvidia/cu13", "/nvidia/cuda_nvcc"})
      roots.push_back(packages + toolkit);
  std::ifstream configured(here + "/../cuda-root");
  for (std::string root; std::getline(configured, root);)
    if (!root.empty())
      roots.push_back(root);
  for (const char* root : {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"})
    roots.push_back(root);
  return roots;
}

/// Empty when there is none.
std::string findPtxas() {
  if (const std::string path = variable("MNEME_PTXAS"); !path.empty()) {
    if (isFile(path, X_OK))
      return path;
    throw Error(ErrorCode::BackendUnavailable,
                "MNEME_PTXAS is '" + path + "', which is not a program that can be run");
  }
  std::vector<std::string> directories;
  for (const std::string& root : toolkitRoots())
    directories.push_back(root + "/bin");
  for (const std::string& directory : listed("PATH"))
    directories.push_back(directory);
  for (const std::string& root : usualRoots())
    directories.push_back(root + "/bin");
  for (const std::string& directory : directories)
    if (isFile(directory + "/ptxas", X_OK))
      return directory + "/ptxas";
  return {};
}

std::vector<std::string> libraryDirectories() {
  std::vector<std::string> roots = toolkitRoots();
  for (const std::string& directory : listed("PATH"))
    if (isFile(directory + "/ptxas", X_OK))
      roots.push_back(directory + "/..");
  for (const std::string& root : usualRoots())
    roots.push_back(root);
  std::vector<std::string> directories;
  for (const std::string& root : roots)
    for (const char* relative : {"/lib64", "/lib", "/../nvjitlink/lib"})
      directories.push_back(root + relative);
  for (const std::string& directory : listed("LD_LIBRARY_PATH"))
    directories.push_back(directory);
  for (const char* directory : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                "/usr/lib64", "/usr/lib", "/usr/local/lib"})
    directories.push_back(directory);
  return directories;
}

/// Empty when there is none.
std::string findNvJitLink() {
  if (const std::string path = variable("MNEME_NVJITLINK"); !path.empty()) {
    if (isFile(path, R_OK))
      return path;
    throw Error(ErrorCode::BackendUnavailable,
                "MNEME_NVJITLINK is '" + path + "', which is not a file that can be read");
  }
  for (const std::string& directory : libraryDirectories())
    for (const char* name : kLibraryNames)
      if (const std::string path = directory + "/" + name; isFile(path, R_OK))
        return path;
  return {};
}

AssemblerTool look() {
  const std::string wanted = variable("MNEME_ASSEMBLER");
  if (wanted == "driver")
    return {};
  if (!wanted.empty() && wanted != "ptxas" && wanted != "nvjitlink")
    throw Error(ErrorCode::InvalidArgument,
                "MNEME_ASSEMBLER is '" + wanted + "'; known are ptxas, nvjitlink and driver");
  if (wanted != "nvjitlink")
    if (const std::string path = findPtxas(); !path.empty())
      return {AssemblerKind::Ptxas, path};
  if (wanted != "ptxas")
    if (const std::string path = findNvJitLink(); !path.empty())
      return {AssemblerKind::NvJitLink, path};
  if (wanted.empty())
    return {};
  throw Error(ErrorCode::BackendUnavailable,
              "MNEME_ASSEMBLER asks for " + wanted +
                  ", but it was not found; set CUDA_HOME to the toolkit, or " +
                  (wanted == "ptxas" ? "MNEME_PTXAS to the program"
                                     : "MNEME_NVJITLINK to libnvJitLink.so.13"));
}

} // namespace

AssemblerTool findAssembler() {
  static std::mutex mutex;
  static auto& found = *new std::map<std::string, AssemblerTool>; // static destructors may ask
  std::string key;
  for (const char* name : kVariables)
    key += variable(name) + '\n';
  const std::lock_guard lock(mutex);
  if (const auto known = found.find(key); known != found.end())
    return known->second;
  return found[key] = look();
}

std::string assemblerIdentity(const AssemblerTool& tool) {
  if (tool.kind == AssemblerKind::Driver)
    return "driver";
  struct stat status = {};
  stat(tool.path.c_str(), &status);
  return std::string(tool.kind == AssemblerKind::Ptxas ? "ptxas" : "nvjitlink") + "|" + tool.path +
         "|" + std::to_string(status.st_size) + "|" + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

} // namespace mneme::compile
