// Room recorder: the files that Triton keeps of a kernel beside the cubin that a program loads.
// Reads files only; holds no LLVM.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/abi/argument.h"

namespace mneme::record {

/// The code that a cubin was made from.
struct CachedCode {
  std::vector<std::byte> ir; ///< LLVM IR as text
  std::shared_ptr<const std::vector<std::byte>> ptx;
  std::string arch;        ///< that the PTX is for: "sm_90a"; empty: it does not say
  unsigned ptxVersion = 0; ///< 87 for ".version 8.7"
  std::string producer;    ///< "Triton 3.5.0"
  std::vector<KernelArg> args;
};

/// Returns the directories where Triton and torch.compile keep such files, by their variables:
/// TRITON_CACHE_DIR, TRITON_HOME, TORCHINDUCTOR_CACHE_DIR.
std::vector<std::filesystem::path> compilerCaches();

/// Returns what lies beside a file `<kernel>.cubin` with this content, in a directory of one of
/// these caches; nothing if there is none, or the IR does not take these arguments. All searches of
/// a process that find nothing take two seconds together.
/// \param args  as the cubin has them
std::optional<CachedCode> findCachedCode(const std::vector<std::filesystem::path>& caches,
                                         const std::string& kernel,
                                         std::span<const std::byte> cubin,
                                         const std::vector<KernelArg>& args);

/// Returns the arguments of a kernel by its definition in LLVM IR, with names from Triton's own IR,
/// which lacks the arguments that Triton appends.
/// \param args  sizes and alignments; nothing if the IR has other ones
std::optional<std::vector<KernelArg>> argumentsIn(const std::string& ir,
                                                  const std::string& tritonIr,
                                                  const std::string& kernel,
                                                  std::vector<KernelArg> args);

} // namespace mneme::record
