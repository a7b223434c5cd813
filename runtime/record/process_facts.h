// Room record: what can be told about the program itself.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/record/backend.h"

namespace mneme::record {

/// Whether the vendor function a launch was compiled against lies in the program (or one of its
/// libraries) instead of in a shared vendor runtime.
bool isRuntimeLinkedStatically(const void* vendorEntry, const Backend& backend) noexcept;

/// For a process that launched no kernel through libmneme_rt: what its user should know, or an
/// empty text for a program that has nothing to do with devices. `hasSeenModules`: instrumented
/// code was seen earlier; at the end of a process it has signed off.
std::string whyNothingWasSeen(bool hasSeenAllocations, bool hasSeenModules);
/// Whether instrumented code is registered now.
bool hasModules() noexcept;

// Libraries opened with RTLD_DEEPBIND: they may find the vendor's functions before the recorder's.
void noteOpenedApart() noexcept;
bool wasAnyOpenedApart() noexcept;

/// The libraries in this process whose file names begin so.
std::vector<std::string> loadedLibraries(std::span<const char* const> prefixes);

} // namespace mneme::record
