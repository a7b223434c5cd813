// Room core/embed: reads kernels of an AMD code object that contains the IR it was made from
// (abi/carried_ir.h).
#pragma once

#include <vector>

#include "runtime/core/embed/byte_view.h"
#include "runtime/core/embed/kernel_blob.h"

namespace mneme::embed {

/// Returns the kernels that the metadata names. They share the IR, which must be in a section of
/// `codeObject`.
/// \throws Error{ArtifactCorrupt} on damaged metadata
std::vector<KernelBlob> kernelsThatCarryIr(Bytes codeObject);

} // namespace mneme::embed
