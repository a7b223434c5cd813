// Room jit/frontend: lowers MLIR modules to LLVM IR, and finds the programs for it.
#pragma once

#include <string>

#include "include/proteus/Frontend/TargetModel.h"
#include "runtime/compiler/service/client.h"

namespace proteus {

/// Returns the lowering without programs, so that stored results are found even if there are none.
/// `arch`: "gfx90a". Memref parameters become pointers; if the shape of one is unknown, all become
/// MLIR's descriptors, with an argument for each field.
mneme::compile::MlirLowering mlirLoweringFor(TargetModelType target, const std::string& arch);

/// Returns the path of mlir-opt: PROTEUS_MLIR_OPT_BIN, else that of the LLVM that mneme was built
/// with, else from PATH. Empty if there is none.
std::string mlirOptPath();

/// Fills in the programs; mlir-translate is next to mlir-opt, or in PATH.
/// \throws mneme::Error{NotFound} naming the package and the variable
void addMlirTools(mneme::compile::MlirLowering& mlir);

} // namespace proteus
