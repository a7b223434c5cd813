#include "runtime/compiler/amd/device_library.h"

#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/IPO/Internalize.h>

#include <filesystem>
#include <vector>

#include "runtime/compiler/amd/object_version.h"
#include "runtime/compiler/amd/target_id.h"
#include "runtime/compiler/ir/compat.h"
#include "runtime/compiler/module/loader.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

namespace fs = std::filesystem;

bool callsLibrary(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && !function.use_empty() &&
        (function.getName().starts_with("__ocml_") || function.getName().starts_with("__ockl_")))
      return true;
  return false;
}

bool isThere(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "ocml.bc", ignored);
}

/// As the compiler wrappers look for them (cmake/hip_flags.sh.in).
fs::path libraryFolder() {
  if (const char* named = environmentValue("HIP_DEVICE_LIB_PATH"); named && isThere(named))
    return named;
  std::vector<fs::path> roots;
  for (const char* name : {"ROCM_PATH", "HIP_PATH", "ROCM_HOME"})
    if (const char* root = environmentValue(name); root && *root)
      roots.emplace_back(root);
  roots.emplace_back("/opt/rocm");
  roots.emplace_back("/usr");
  for (const fs::path& root : roots) {
    std::vector<fs::path> folders = {root / "amdgcn/bitcode",
                                     root / "lib/x86_64-linux-gnu/amdgcn/bitcode"};
    // Beside a clang: no newer one than this LLVM, which could not read them.
    for (unsigned major = LLVM_VERSION_MAJOR; major >= 15; --major)
      for (const char* clang : {"lib/llvm", "lib/llvm-"})
        for (const char* folder : {"/lib/amdgcn/bitcode", "/amdgcn/bitcode"}) {
          const std::string number = std::to_string(major);
          const bool isDebians = std::string(clang).back() == '-';
          folders.push_back(root /
                            (clang + (isDebians ? number : "") + "/lib/clang/" + number + folder));
        }
    for (const fs::path& folder : folders)
      if (isThere(folder))
        return folder;
  }
  throw Error(ErrorCode::NotFound,
              "the module calls functions of ROCm's device libraries, which are not found; "
              "set ROCM_PATH to a ROCm or HIP_DEVICE_LIB_PATH to the folder of ocml.bc");
}

} // namespace

void linkAmdDeviceLibrary(llvm::Module& module, const std::string& cpu, Diagnostics& diagnostics) {
  if (!callsLibrary(module))
    return;
  const fs::path folder = libraryFolder();
  const std::string isa = "oclc_isa_version_" + llvm::StringRef(cpu).drop_front(3).str();
  std::error_code ignored;
  if (!fs::is_regular_file(folder / (isa + ".bc"), ignored))
    throw Error(ErrorCode::NotFound,
                "the module calls functions of ROCm's device libraries, and those in '" +
                    folder.string() + "' do not know " + cpu);
  std::string version = std::to_string(objectVersionOf(module));
  if (!fs::is_regular_file(folder / ("oclc_abi_version_" + version + ".bc"), ignored))
    version = "500"; // laid out alike
  const std::string wave = usualWaveSize(cpu) == 64 ? "on" : "off";
  // What the first two ask for comes behind them.
  for (const std::string& name :
       {std::string("ocml"), std::string("ockl"), std::string("oclc_daz_opt_off"),
        std::string("oclc_unsafe_math_off"), std::string("oclc_finite_only_off"),
        std::string("oclc_correctly_rounded_sqrt_on"), "oclc_wavefrontsize64_" + wave, isa,
        "oclc_abi_version_" + version}) {
    const auto file = llvm::MemoryBuffer::getFile((folder / (name + ".bc")).string());
    if (!file)
      continue; // one that these libraries no longer have
    auto library = loadModule({(*file)->getBufferStart(), (*file)->getBufferSize()}, name.c_str(),
                              module.getContext(), diagnostics);
    compat::setModuleTriple(*library, compat::moduleTriple(module));
    library->setDataLayout(module.getDataLayout());
    const bool hasFailed = llvm::Linker::linkModules(
        module, std::move(library), llvm::Linker::LinkOnlyNeeded,
        [](llvm::Module& linked, const llvm::StringSet<>& names) {
          llvm::internalizeModule(linked, [&](const llvm::GlobalValue& value) {
            return !value.hasName() || !names.contains(value.getName());
          });
        });
    if (hasFailed)
      throw Error(ErrorCode::CompileFailed,
                  "cannot link ROCm's device library " + name + ": " + diagnostics.errors());
  }
}

} // namespace mneme::compile
