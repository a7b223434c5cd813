// Room jit: which failures are said. What is wrong with a process is wrong with all it compiles.
#pragma once

#include <exception>

namespace mneme::jit {

/// Whether `error` is the process's own (compile::ProcessError), and one of its kind has been here
/// before: engines say each kind once. Thread-safe.
bool isKnownCause(const std::exception& error) noexcept;

} // namespace mneme::jit
