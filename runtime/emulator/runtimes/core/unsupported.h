// Room emulator/runtimes: the behaviour of the functions named in unsupported.txt.
#pragma once

namespace mneme::cpu_runtime {

/// Reports once on stderr that `name` is not supported and returns Status::NotSupported.
int unsupported(const char* name) noexcept;

} // namespace mneme::cpu_runtime
