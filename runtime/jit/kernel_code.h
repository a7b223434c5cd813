// Room jit: reads the IR of kernels that this process launches from its own binaries.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/embed/blob_set.h"

namespace mneme::jit {

struct KernelCode {
  const void* handle = nullptr;
  const mneme_module_entry* module = nullptr;
  std::string name;                                              ///< mangled
  std::shared_ptr<const embed::KernelBlob> blob;                 ///< of the kernel itself
  std::vector<std::shared_ptr<const embed::KernelBlob>> modules; ///< to link, `blob` first
  std::string optionsJson; ///< how the ahead-of-time build generates code
};

/// Returns how the ahead-of-time build generates a kernel's code (compile::Request::optionsJson);
/// empty if that is unknown.
std::string buildOptionsOf(const embed::KernelBlob& blob);
/// Returns the pipeline of that build.
std::string pipelineOf(const std::string& optionsJson);

/// Returns the device variables of all linked blobs, each name once. Definitions take precedence
/// over declarations.
std::vector<embed::KernelGlobal> globalsOf(const KernelCode& code);

/// Reads each translation unit once. Thread-safe. Its lock is never held while something is read,
/// so that forget() may be called under the loader's lock.
class CodeReader {
public:
  /// Keeps only marked kernels and those for which `isWanted` returns true in memory.
  explicit CodeReader(std::function<bool(const embed::KernelBlob&)> isWanted)
      : isWanted_(std::move(isWanted)) {}

  /// Returns nothing if the kernel carries no IR. \throws Error{ArtifactCorrupt, Unsupported}
  std::optional<KernelCode> find(const void* handle, const mneme_module_entry* module,
                                 const char* name);
  /// Like find(). \throws Error{NotFound} if the kernel carries no IR.
  KernelCode read(const void* handle, const mneme_module_entry* module, const char* name);
  /// Reads a unit, if it can be read.
  void visit(const mneme_module_entry* module) noexcept;
  void forget(const mneme_module_entry* module);

private:
  std::shared_ptr<const embed::BlobSet> unit(const mneme_module_entry* module);

  std::function<bool(const embed::KernelBlob&)> isWanted_;
  std::mutex mutex_; ///< of units_
  std::map<const mneme_module_entry*, std::shared_ptr<const embed::BlobSet>> units_;
};

} // namespace mneme::jit
