#include "runtime/compiler/module/unit.h"

#include <llvm/IR/Constants.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/IPO/Internalize.h>

#include "passes/device_module.h"
#include "passes/embed_kernels.h"
#include "runtime/compiler/codegen.h"
#include "runtime/compiler/ir/compat.h"
#include "runtime/compiler/module/loader.h"
#include "runtime/compiler/target_machine.h"
#include "runtime/core/abi/blob_format.h"
#include "runtime/core/base/environment.h"

namespace mneme::compile {
namespace {

constexpr const char* kLibraryPrefix = "__nv_";

bool callsDeviceLibrary(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && function.getName().starts_with(kLibraryPrefix) &&
        !function.use_empty())
      return true;
  return false;
}

/// The file where CUDA_LIBDEVICE_PATH says, else in the toolkit that the first of these names.
std::unique_ptr<llvm::MemoryBuffer> deviceLibrary() {
  std::vector<std::string> places;
  for (const char* name : {"PROTEUS_CUDA_LIBDEVICE_PATH", "CUDA_LIBDEVICE_PATH"})
    if (const char* value = environmentValue(name); value && *value)
      places.emplace_back(value);
  for (const char* name : {"PROTEUS_CUDA_HOME", "CUDA_HOME", "CUDA_PATH"})
    if (const char* value = environmentValue(name); value && *value)
      places.push_back(std::string(value) + "/nvvm/libdevice/libdevice.10.bc");
  places.emplace_back("/usr/local/cuda/nvvm/libdevice/libdevice.10.bc");
  for (const std::string& place : places)
    if (auto file = llvm::MemoryBuffer::getFile(place))
      return std::move(*file);
  throw Error(ErrorCode::NotFound, "the module calls functions of CUDA's device library, which is "
                                   "not at '" +
                                       places.front() +
                                       "'; set CUDA_HOME to a CUDA toolkit or CUDA_LIBDEVICE_PATH "
                                       "to its libdevice.10.bc");
}

void linkDeviceLibrary(llvm::Module& module, Diagnostics& diagnostics) {
  if (!callsDeviceLibrary(module))
    return;
  const auto file = deviceLibrary();
  auto library = loadModule({file->getBufferStart(), file->getBufferSize()},
                            "CUDA's device library", module.getContext(), diagnostics);
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
                "cannot link CUDA's device library: " + diagnostics.errors());
}

} // namespace

void becomeUnit(llvm::Module& module, const std::string& arch, Diagnostics& diagnostics) {
  linkDeviceLibrary(module, diagnostics);
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && !function.hasFnAttribute("target-cpu"))
      function.addFnAttr("target-cpu", arch);
  if (passes::findKernels(module).empty())
    throw Error(ErrorCode::InvalidArgument, "the module has no kernel");
  passes::EmbedOptions options;
  options.build.optLevel = "3";
  options.build.fusesEverywhere = false;
  passes::embedKernels(module, options);
  diagnostics.throwIfErrors(ErrorCode::CompileFailed, "the module cannot be prepared");
}

void defineVariables(llvm::Module& module) {
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.hasAvailableExternallyLinkage())
      variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
}

std::string blobObject(const llvm::Module& module, const Diagnostics& diagnostics) {
  llvm::Module blobs("mneme", module.getContext());
  const auto machine = makeTargetMachine(Target::parse("cpu"), {}, 0);
  compat::setModuleTriple(blobs, machine->getTargetTriple());
  blobs.setDataLayout(machine->createDataLayout());
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (!variable.getName().starts_with(embed::kKernelSymbolPrefix) &&
        !variable.getName().starts_with(embed::kModuleSymbolPrefix))
      continue;
    auto* copy = new llvm::GlobalVariable(
        blobs, variable.getValueType(), true, llvm::GlobalValue::ExternalLinkage,
        const_cast<llvm::Constant*>(variable.getInitializer()), variable.getName());
    copy->setAlignment(llvm::Align(8));
  }
  return emitCode(blobs, *machine, llvm::CodeGenFileType::ObjectFile, diagnostics);
}

} // namespace mneme::compile
