// Room compiler: machine code for NVIDIA GPUs from PTX text, with no GPU in the process. Holds no
// LLVM.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/compiler/assembler/tools.h"

namespace mneme::compile {

/// What one kernel uses; bytes.
struct ResourceUsage {
  uint32_t registers = 0;
  uint64_t stackBytes = 0;
  uint64_t spillStoreBytes = 0;
  uint64_t spillLoadBytes = 0;
  uint64_t sharedBytes = 0;   ///< static
  uint64_t constantBytes = 0; ///< variables and the compiler's own, without the parameters
  uint64_t localBytes = 0;    ///< per thread
};

struct AssemblyRequest {
  std::string ptx = {};
  std::string kernel = {};
  std::string arch = {}; ///< "sm_90"
  unsigned optLevel = 3;
  unsigned maxRegisters = 0;             ///< 0: no limit
  std::vector<std::string> options = {}; ///< ptxas's, checked by checkedOptions()
};

struct Assembly {
  std::string cubin;
  ResourceUsage usage;
};

/// CUDA release of a tool, and its name in statistics.
struct AssemblerVersion {
  unsigned major = 0;
  unsigned minor = 0;
  std::string name; ///< "ptxas 13.0.88", "nvJitLink 13.0", "driver"
};

/// One tool, ready to be used. Thread-safe.
class Assembler {
public:
  virtual ~Assembler() = default;
  virtual const AssemblerVersion& version() const = 0;
  /// \throws Error{CompileFailed} with the tool's own first lines.
  virtual Assembly assemble(const AssemblyRequest& request) const = 0;
};

/// Splits `text` at blanks. \throws Error{InvalidArgument} for an option that names files to write,
/// changes the kind of output or the machine, or conflicts with other fields of a request, and for
/// a file of controls without the hash of its content.
std::vector<std::string> checkedOptions(const char* text);

/// Takes "--ptxas-program=FILE@HASH" out of checked options. Returns that tool, or what
/// findAssembler() returns if no option names one. \throws Error{InvalidArgument} if the program is
/// not there or has another content, and as findAssembler().
AssemblerTool takeAssembler(std::vector<std::string>& options);

/// A checked option as the tool takes it: "--apply-controls=FILE@HASH", as configurations have it,
/// without the hash. \throws Error{InvalidArgument} if the content of the file is another one.
std::string optionForTool(const std::string& option);

/// Both tools, as openAssembler() makes them. \throws Error{BackendUnavailable}
std::shared_ptr<const Assembler> openPtxas(const std::string& path);
std::shared_ptr<const Assembler> openNvJitLink(const std::string& path);

} // namespace mneme::compile
