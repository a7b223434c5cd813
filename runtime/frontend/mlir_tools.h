// Room frontend: how modules of MLIR become LLVM IR, and with which programs.
#pragma once

#include <string>

#include "include/proteus/Frontend/TargetModel.h"
#include "runtime/compile/service/client.h"

namespace proteus {

/// Without programs, so that stored results are found where there are none. `arch`: "gfx90a".
/// Parameters that are memrefs become pointers; if the shape of one is not known, all become what
/// MLIR calls descriptors, an argument for each field.
mneme::compile::MlirLowering mlirLoweringFor(TargetModelType target, const std::string& arch);

/// mlir-opt: what PROTEUS_MLIR_OPT_BIN names, else that of the LLVM that mneme was built with, else
/// by PATH. Empty: there is none.
std::string mlirOptPath();

/// Fills in the programs; mlir-translate is beside mlir-opt, or in PATH.
/// \throws mneme::Error{NotFound} naming the package and the variable
void addMlirTools(mneme::compile::MlirLowering& mlir);

} // namespace proteus
