#include "runtime/jit/frontend/cpp_compilers.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "runtime/compiler/service/library_identity.h"
#include "runtime/compiler/service/source.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"

namespace proteus {
namespace {

using mneme::Error;
using mneme::ErrorCode;
using Words = std::vector<std::string>;

constexpr const char* kClangVariable = "PROTEUS_CLANGXX_BIN";
constexpr const char* kNvccVariable = "PROTEUS_NVCC_BIN";
constexpr uint64_t kMostSettingsBytes = 1 << 20;

std::string valueOf(const char* name) {
  const char* value = mneme::environmentValue(name);
  return value ? value : "";
}

/// The compiler wrappers of this mneme know its clang and the vendors' toolkits. They lie beside
/// the program that compiles.
std::string wrapper(const char* name) {
  const std::string program = mneme::compile::compileProgramPath();
  return program.substr(0, program.rfind('/') + 1) + name;
}

/// The clang++ that mneme was built beside, if it is there; what the wrapper takes, which adds
/// nothing for the host but some milliseconds.
std::string hostCompiler() {
  const std::string own = wrapper("mneme-clang++");
  if (!valueOf("MNEME_CLANGXX").empty())
    return own;
  try {
    const std::string settings = own.substr(0, own.rfind('/') + 1) + "../config.json";
    const auto known = nlohmann::json::parse(mneme::readTextFile(settings, kMostSettingsBytes));
    const std::string folder = known.value("llvmdir", std::string());
    const std::string path = folder + "/bin/clang++";
    return !folder.empty() && !mneme::compile::pathOfProgram(path).empty() ? path : own;
  } catch (const std::exception&) { // the wrapper finds one, or says what to do
    return own;
  }
}

/// Says where the toolkit is. The wrappers know by themselves, but for the variables that are for
/// code made at run time alone: these come first in the lists.
void addToolkit(Words& words, bool isCuda, bool isUsers, bool links) {
  Words names = isCuda ? Words{"PROTEUS_CUDA_HOME", "CUDA_HOME", "CUDA_PATH"}
                       : Words{"PROTEUS_ROCM_PATH", "ROCM_PATH"};
  if (!isUsers)
    names.resize(1);
  for (const std::string& name : names)
    if (const std::string path = valueOf(name.c_str()); !path.empty()) {
      words.push_back((isCuda ? "--cuda-path=" : "--rocm-path=") + path);
      // The wrappers look for more in the toolkit they find, but behind this.
      if (isCuda && !isUsers)
        words.insert(words.end(), {"-isystem", path + "/include/cccl"});
      if (isCuda && !isUsers && links)
        words.push_back("-L" + path + "/lib64");
      return;
    }
}

Words clang(TargetModelType target, const std::string& arch) {
  const bool isCuda = target == TargetModelType::CUDA || target == TargetModelType::HOST_CUDA;
  const bool hasBoth = target == TargetModelType::HOST_CUDA || target == TargetModelType::HOST_HIP;
  Words words = {valueOf(kClangVariable)};
  const bool isUsers = !words.front().empty();
  if (!isUsers)
    words.front() = target == TargetModelType::HOST
                        ? hostCompiler()
                        : wrapper(hasBoth ? "mneme-cxx" : "mneme-clang++");
  words.insert(words.end(), {"-std=c++17", "-O3"});
  if (target == TargetModelType::HOST) {
    words.insert(words.end(),
                 {"-x", "c++", "-fPIC", "-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes"});
    return words;
  }
  words.insert(words.end(), {"-x", isCuda ? "cuda" : "hip", "--offload-arch=" + arch});
  addToolkit(words, isCuda, isUsers, hasBoth);
  if (hasBoth)
    words.insert(words.end(), {"-shared", "-fPIC", isCuda ? "-lcudart" : "-lamdhip64"});
  else
    words.insert(words.end(),
                 {"--offload-device-only", "-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes"});
  return words;
}

/// The name of CUDA's runtime in a directory; empty if it is not there.
std::string runtimeIn(const std::filesystem::path& folder) {
  constexpr std::string_view name = "libcudart.so";
  std::string found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (const std::string file = entry.path().filename(); file == name)
      return file;
    else if (file.starts_with(name))
      found = std::max(found, file);
  return found;
}

/// nvcc looks for libraries in lib64, but a toolkit of PyPI has them in lib, some without the name
/// that the linker looks for.
void addRuntime(Words& words) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path program = mneme::compile::pathOfProgram(words.front());
  std::vector<fs::path> roots = {fs::canonical(program, ignored).parent_path().parent_path()};
  for (const char* variable : {"PROTEUS_CUDA_HOME", "CUDA_HOME", "CUDA_PATH"})
    if (const std::string path = valueOf(variable); !path.empty())
      roots.emplace_back(path);
  for (const fs::path& root : roots) {
    if (fs::exists(root / "lib64", ignored))
      break;
    const std::string runtime = runtimeIn(root / "lib");
    if (runtime.empty())
      continue;
    words.push_back("-L" + (root / "lib").string());
    if (runtime != "libcudart.so") {
      words.insert(words.end(), {"-cudart", "none", "-l:" + runtime});
      return;
    }
    break;
  }
  words.insert(words.end(), {"-cudart", "shared"});
}

Words nvcc(TargetModelType target, const std::string& arch) {
  Words words = {valueOf(kNvccVariable)};
  if (words.front().empty())
    words.front() = "nvcc";
  words.insert(words.end(), {"-std=c++17", "-O3", "-x", "cu", "--gpu-architecture=" + arch});
  if (target == TargetModelType::HOST_CUDA) {
    words.insert(words.end(), {"-shared", "-Xcompiler", "-fPIC"});
    addRuntime(words);
  } else
    words.emplace_back("-cubin");
  return words;
}

} // namespace

std::vector<std::string> compilerFor(TargetModelType target, CppJitCompilerBackend backend,
                                     const std::string& arch,
                                     const std::vector<std::string>& extra) {
  Words words = backend == CppJitCompilerBackend::Nvcc ? nvcc(target, arch) : clang(target, arch);
  words.insert(words.end(), extra.begin(), extra.end());
  return words;
}

void requireCompiler(const std::vector<std::string>& words) {
  const std::string& program = words.front();
  if (!mneme::compile::pathOfProgram(program).empty())
    return;
  for (const char* variable : {kClangVariable, kNvccVariable})
    if (program == valueOf(variable))
      throw Error(ErrorCode::NotFound,
                  std::string(variable) + "='" + program + "' is not a program that can be run");
  throw Error(ErrorCode::NotFound, "the compiler '" + program + "' is not there; set " +
                                       kClangVariable + " or, for nvcc, " + kNvccVariable +
                                       " to one");
}

} // namespace proteus
