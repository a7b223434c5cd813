// Room jit: keeps failures from being reported once per kernel. If this process cannot compile, for
// example because its compiler is missing, every kernel fails for the same reason; only the first
// failure is worth a message.
#pragma once

#include <exception>

namespace mneme::jit {

/// Returns true if a failure like this one was passed here before, so that it need not be reported
/// again. Only compile::ProcessError counts; for all other errors the result is false. Thread-safe.
bool isKnownCause(const std::exception& error) noexcept;

} // namespace mneme::jit
