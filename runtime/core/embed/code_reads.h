// Room core/embed: what code without IR reads that a recording does not hold, in the words of
// passes/unrecorded_reads.h, and whether it writes.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "runtime/core/embed/byte_view.h"

namespace mneme::embed {

using Reads = std::set<std::string>;

/// Notes what machine code of NVIDIA GPUs (sm_70 and newer) reads.
void noteMachineCode(Bytes instructions, Reads& reads);
/// Whether machine code of these GPUs may write to memory, or call what does. True for any
/// instruction that is not known to do neither.
bool mayWrite(Bytes instructions);
/// The same for an instruction of PTX, without what follows its point.
bool mayWrite(std::string_view word);

/// Notes a function that is not in the image: the driver has those for the device's heap, and for
/// launches by kernels.
void noteFunction(std::string_view name, Reads& reads);
/// Notes a register of PTX ("%clock64") or an instruction ("tex"), without what follows its point.
void notePtx(std::string_view word, Reads& reads);

} // namespace mneme::embed
