// Room compiler: finds the program or library that turns PTX into machine code on this machine.
// Needs no LLVM, because the disk cache uses it, too.
#pragma once

#include <string>

namespace mneme::compile {

enum class AssemblerKind {
  Driver, ///< neither is installed: the image is PTX text
  Ptxas,
  NvJitLink,
};

struct AssemblerTool {
  AssemblerKind kind = AssemblerKind::Driver;
  std::string path; ///< empty for the driver
};

/// Returns MNEME_ASSEMBLER ("ptxas", "nvjitlink", "driver") if set, else ptxas, else nvJitLink,
/// else the driver. ptxas is MNEME_PTXAS if set, else searched in bin/ of MNEME_CUDA_ROOT,
/// CUDA_HOME and CUDA_PATH, in PATH, and in bin/ of Python's nvidia packages beside ours and of
/// VIRTUAL_ENV, the toolkit mneme was configured with, and /usr/local/cuda, /opt/cuda and
/// /usr/lib/cuda. nvJitLink is MNEME_NVJITLINK if set, else libnvJitLink.so.13 or .12 in lib64/ or
/// lib/ of the same roots, of the root of each ptxas in PATH, in nvjitlink/lib beside such a root,
/// in LD_LIBRARY_PATH and the system's library directories. Searches once per set of values of
/// these variables. Thread-safe.
/// \throws Error{InvalidArgument} for another MNEME_ASSEMBLER, Error{BackendUnavailable} if the
/// tool named by it, MNEME_PTXAS or MNEME_NVJITLINK does not exist.
AssemblerTool findAssembler();

/// Returns a text that changes whenever the tool does: kind, path, size and modification time.
std::string assemblerIdentity(const AssemblerTool& tool);

} // namespace mneme::compile
