#include "runtime/compiler/codegen.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include "runtime/compiler/ir/target_library.h"

namespace mneme::compile {

std::string emitCode(llvm::Module& module, llvm::TargetMachine& machine,
                     llvm::CodeGenFileType fileType, const Diagnostics& diagnostics) {
  return emitCode(module, machine, fileType, diagnostics,
                  ir::targetLibraryOf(machine.getTargetTriple()));
}

std::string emitCode(llvm::Module& module, llvm::TargetMachine& machine,
                     llvm::CodeGenFileType fileType, const Diagnostics& diagnostics,
                     const llvm::TargetLibraryInfoImpl& library) {
  llvm::SmallString<0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  if (machine.addPassesToEmitFile(passes, stream, nullptr, fileType))
    throw Error(ErrorCode::CompileFailed,
                "LLVM cannot write code for '" + machine.getTargetTriple().str() + "'");
  passes.run(module);
  diagnostics.throwIfErrors(ErrorCode::CompileFailed, "code generation failed");
  return code.str().str();
}

} // namespace mneme::compile
