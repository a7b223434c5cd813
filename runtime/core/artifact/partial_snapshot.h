// Room core/artifact: snapshots that are as another one, but for regions of zeros.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>

#include "runtime/core/artifact/snapshot.h"

namespace mneme::artifact {

/// Writes a snapshot without content of its own: its regions are based on those of another one,
/// except some that are all zero. Replaces an older file as writeFileAtomically() does.
/// \param target  the new file; it refers to a file beside it that has the name of `whole`
/// \param whole   the other one, of any version; it may be based on others in turn
/// \param zero    indices of the regions that become zero
/// \returns the new snapshot, opened: the file beside it must be there
/// \throws Error{InvalidArgument} if both have the same name
/// \throws Error{OutOfRange} for a region that `whole` does not have
/// \throws Error{NotFound, ArtifactCorrupt} as Snapshot::open(), Error{IoFailed}
Snapshot writePartial(const std::filesystem::path& target, const std::filesystem::path& whole,
                      const std::set<size_t>& zero);

} // namespace mneme::artifact
