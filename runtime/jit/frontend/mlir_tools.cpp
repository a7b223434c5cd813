#include "runtime/jit/frontend/mlir_tools.h"

#include <fstream>

#include "runtime/compiler/service/library_identity.h"
#include "runtime/compiler/service/source.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"

namespace proteus {
namespace {

using mneme::compile::pathOfProgram;

constexpr const char* kVariable = "PROTEUS_MLIR_OPT_BIN";
constexpr const char* kOpt = "mlir-opt";
constexpr const char* kTranslate = "mlir-translate";
constexpr const char* kVersion = MNEME_LLVM_MAJOR;

std::string valueOf(const char* name) {
  const char* value = mneme::environmentValue(name);
  return value ? value : "";
}

/// Where the LLVM lies that mneme was built with, as config.json says; it may be gone.
std::string llvmDirectory() {
  const std::string program = mneme::compile::compileProgramPath();
  std::ifstream config(program.substr(0, program.rfind('/') + 1) + "../config.json");
  const std::string key = "\"llvmdir\": \"";
  for (std::string line; std::getline(config, line);)
    if (const size_t at = line.find(key); at != std::string::npos) {
      const size_t begin = at + key.size();
      return line.substr(begin, line.find('"', begin) - begin);
    }
  return {};
}

std::string found(const std::string& name) {
  const std::string directory = llvmDirectory();
  std::string path = directory.empty() ? "" : pathOfProgram(directory + "/bin/" + name);
  if (path.empty())
    path = pathOfProgram(name + "-" + kVersion);
  return path.empty() ? pathOfProgram(name) : path;
}

/// "/usr/bin/mlir-translate-22" beside "/usr/bin/mlir-opt-22".
std::string besideOpt(const std::string& opt) {
  const size_t begin = opt.rfind('/') + 1;
  const size_t at = opt.find(kOpt, begin);
  if (at == std::string::npos)
    return {};
  std::string name = opt;
  return pathOfProgram(name.replace(at, std::string(kOpt).size(), kTranslate));
}

/// What becomes simpler operations first, wherever it is.
constexpr const char* kCommon = "convert-linalg-to-loops,lower-affine,convert-vector-to-scf,"
                                "expand-strided-metadata,lower-affine,convert-scf-to-cf,";

std::string hostPipeline(const std::string& convention) {
  return std::string("builtin.module(") + kCommon +
         "convert-vector-to-llvm,convert-math-to-llvm,convert-math-to-libm,finalize-memref-to-llvm,"
         "convert-arith-to-llvm,convert-index-to-llvm,convert-func-to-llvm{" +
         convention + "},convert-cf-to-llvm,reconcile-unrealized-casts)";
}

std::string gpuPipeline(const std::string& conversion, const std::string& convention) {
  return std::string("builtin.module(gpu.module(") + kCommon + conversion + convention +
         "},convert-math-to-llvm,convert-index-to-llvm,reconcile-unrealized-casts))";
}

} // namespace

mneme::compile::MlirLowering mlirLoweringFor(TargetModelType target, const std::string& arch) {
  constexpr const char* kPointers = "use-bare-ptr-memref-call-conv=1";
  mneme::compile::MlirLowering mlir;
  mlir.isForGpu = isGPUTargetModel(target);
  for (const std::string convention : {kPointers, ""})
    if (target == TargetModelType::HOST)
      mlir.pipelines.push_back(hostPipeline(convention));
    else if (target == TargetModelType::CUDA)
      mlir.pipelines.push_back(gpuPipeline("convert-gpu-to-nvvm{", convention));
    else
      mlir.pipelines.push_back(gpuPipeline(
          "convert-gpu-to-rocdl{runtime=HIP chipset=" + arch.substr(0, arch.find(':')) + " ",
          convention));
  return mlir;
}

std::string mlirOptPath() {
  const std::string named = valueOf(kVariable);
  return named.empty() ? found(kOpt) : pathOfProgram(named);
}

void addMlirTools(mneme::compile::MlirLowering& mlir) {
  using mneme::Error;
  using mneme::ErrorCode;
  const std::string named = valueOf(kVariable);
  mlir.opt = mlirOptPath();
  if (mlir.opt.empty() && !named.empty())
    throw Error(ErrorCode::NotFound,
                std::string(kVariable) + "='" + named + "' is not a program that can be run");
  if (mlir.opt.empty())
    throw Error(ErrorCode::NotFound, std::string("the program '") + kOpt +
                                         "', which compiles modules of MLIR, is not "
                                         "installed; install the package mlir-" +
                                         kVersion + "-tools, or set " + kVariable +
                                         " to that program");
  mlir.translate = besideOpt(mlir.opt);
  if (mlir.translate.empty())
    mlir.translate = found(kTranslate);
  if (mlir.translate.empty())
    throw Error(ErrorCode::NotFound,
                std::string("the program '") + kTranslate + "' is not there, beside '" + mlir.opt +
                    "' or in PATH; install the package mlir-" + kVersion + "-tools");
}

} // namespace proteus
