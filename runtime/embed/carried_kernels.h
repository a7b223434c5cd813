// Room embed: kernels of a code object for AMD GPUs that carries the IR it was made from
// (abi/carried_ir.h).
#pragma once

#include <vector>

#include "runtime/embed/byte_view.h"
#include "runtime/embed/kernel_blob.h"

namespace mneme::embed {

/// The kernels that the metadata names. They share the IR. `codeObject` has a section with it.
/// \throws Error{ArtifactCorrupt} on damaged metadata
std::vector<KernelBlob> kernelsThatCarryIr(Bytes codeObject);

} // namespace mneme::embed
