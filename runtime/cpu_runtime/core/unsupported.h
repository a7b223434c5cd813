// Room cpu_runtime: what the functions named in unsupported.txt do.
#pragma once

namespace mneme::cpu_runtime {

/// Says once on stderr that `name` is not supported, and returns Status::NotSupported.
int unsupported(const char* name) noexcept;

} // namespace mneme::cpu_runtime
