// Room recorder: facts about the program itself.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/recorder/record_backend.h"

namespace mneme::record {

/// Whether the vendor function that a launch calls is in the program (or one of its libraries)
/// instead of in a shared vendor runtime.
bool isRuntimeLinkedStatically(const void* vendorEntry, const Backend& backend) noexcept;

/// Returns the message for a process that launched no kernel through libmneme_rt; empty for a
/// program that does not use devices. `hasSeenModules`: whether instrumented code was registered
/// earlier; at the end of a process it no longer is.
std::string whyNothingWasSeen(bool hasSeenAllocations, bool hasSeenModules);
/// Whether instrumented code is registered now.
bool hasModules() noexcept;

/// Whether that runtime is one that launches by CUDA's driver, where its launches are seen again.
/// Looks at each function once.
bool isLaunchedByDriver(const void* vendorEntry) noexcept;

// For libraries opened with RTLD_DEEPBIND, which may find the vendor's functions before the
// recorder's.
void noteOpenedApart() noexcept;
bool wasAnyOpenedApart() noexcept;

/// Returns the libraries in this process whose file names have these prefixes.
std::vector<std::string> loadedLibraries(std::span<const char* const> prefixes);

} // namespace mneme::record
