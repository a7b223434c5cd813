// Room emulator/runtimes: NVIDIA's static runtime inside of programs and libraries, which would
// look for a GPU. Its functions jump to those that a program linked with the shared runtime calls.
#pragma once

namespace mneme::cpu_runtime::cuda {

/// What instrumented programs and libraries are linked to.
inline constexpr const char* kInstrumentedLibrary = "libmneme_rt.so";

/// Looks at what was loaded since the last call. `unit`, unless null, is in a library whose code is
/// about to be registered. Libraries that hold device code without mneme keep their runtime: they
/// may have registered it there. Any thread.
void replaceStaticRuntimes(const void* unit) noexcept;

/// The same for what was loaded later, if anything was. Waits a second at most for the look of
/// another thread.
void replaceStaticRuntimesLoadedSince() noexcept;

/// Whether the function at this address was made to jump; null: whether any was.
bool isReplaced(const void* function) noexcept;

/// Whether this address is in a library whose runtime could not be replaced, as a sentence says.
bool isReportedUnreplaced(const void* caller) noexcept;

} // namespace mneme::cpu_runtime::cuda
