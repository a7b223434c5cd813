// Room compiler: an assembler that remembers its results. Many pass pipelines give the same PTX,
// and assembling takes most of the time of a compilation.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/compiler/assembler/assembler.h"
#include "runtime/core/base/hash.h"

namespace mneme::compile {

class RememberingAssembler : public Assembler {
public:
  explicit RememberingAssembler(std::shared_ptr<const Assembler> tool) : tool_(std::move(tool)) {}

  const AssemblerVersion& version() const override { return tool_->version(); }
  /// Runs the tool at most once for equal recent requests. Failures are not kept.
  Assembly assemble(const AssemblyRequest& request) const override;

private:
  using Entry = std::pair<Hash128, std::shared_ptr<const Assembly>>;
  std::shared_ptr<const Assembly> find(const Hash128& key) const;

  std::shared_ptr<const Assembler> tool_;
  mutable std::mutex mutex_;
  mutable std::list<Entry> entries_; ///< most recently used first
};

/// Returns the tool of findAssembler(), opened once per process; null for the driver. It remembers
/// its results.
/// \throws Error{BackendUnavailable} if it exists but does not work.
std::shared_ptr<const Assembler> openAssembler(const AssemblerTool& tool);

} // namespace mneme::compile
