// Modules of MLIR that are compiled at run time.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "proteus/Frontend/TextModule.h"

namespace proteus {

/// Lowered by mlir-opt and mlir-translate, which need not be there for what is in the cache.
/// compile() throws proteus::FatalError, which begins "MLIRJitModule: ", with the words of these
/// programs and the line in `Code`.
class PROTEUS_API MLIRJitModule final : public detail::TextModule {
public:
  /// Targets host, whose functions are those of func, and cuda and hip, with exactly one gpu.module
  /// at the top. Errors name `File` and `Line`.
  MLIRJitModule(TargetModelType Target, std::string Code, const char* File = __builtin_FILE(),
                unsigned Line = __builtin_LINE());
  MLIRJitModule(const std::string& Target, std::string Code, const char* File = __builtin_FILE(),
                unsigned Line = __builtin_LINE())
      : MLIRJitModule(parseTargetModel(Target, File, Line), std::move(Code), File, Line) {}

  /// The function of this name, or the kernel in modules for a GPU.
  void* getFunctionAddress(const std::string& Name, const char* CallerFile = __builtin_FILE(),
                           unsigned CallerLine = __builtin_LINE()) {
    return isGPUTargetModel(Target) ? getKernelAddress(Name, CallerFile, CallerLine)
                                    : TextModule::getFunctionAddress(Name, CallerFile, CallerLine);
  }

private:
  std::shared_ptr<CompiledLibrary> compileCode() override;
};

} // namespace proteus
