// Modules of LLVM IR that are compiled at run time.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "proteus/Frontend/TextModule.h"

namespace proteus {

/// Auto: bitcode if it looks like it, else text.
enum class LLVMIRInputKind { Auto, TextIR, Bitcode };

/// compile() throws proteus::FatalError: "LLVMIRJitModule: failed to parse LLVM IR: " with line and
/// words of LLVM; "Broken module found, JIT compilation aborted!".
class PROTEUS_API LLVMIRJitModule final : public detail::TextModule {
public:
  /// Targets host, cuda and hip. A triple and a data layout that `Code` leaves out are filled in.
  /// Errors name `File` and `Line`.
  LLVMIRJitModule(TargetModelType Target, std::string Code,
                  LLVMIRInputKind Kind = LLVMIRInputKind::Auto, const char* File = __builtin_FILE(),
                  unsigned Line = __builtin_LINE());
  LLVMIRJitModule(const std::string& Target, std::string Code,
                  LLVMIRInputKind Kind = LLVMIRInputKind::Auto, const char* File = __builtin_FILE(),
                  unsigned Line = __builtin_LINE())
      : LLVMIRJitModule(parseTargetModel(Target, File, Line), std::move(Code), Kind, File, Line) {}

private:
  std::shared_ptr<CompiledLibrary> compileCode() override;

  LLVMIRInputKind Kind;
};

} // namespace proteus
