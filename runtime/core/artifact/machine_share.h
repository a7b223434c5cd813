// Room core/artifact (internal): limits what the writer takes of the machine while the application
// runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace mneme::artifact {

/// Returns the number of cores this process may run on, at least 1.
unsigned availableCores() noexcept;

/// Lowers the priority of the calling thread, and of threads it starts, below the application's.
void lowerPriority() noexcept;

/// Returns how much memory this process can still use: the least of the limits of the system and of
/// its control groups.
/// \param root  "/", or a directory that stands for it
std::optional<uint64_t> availableMemory(const std::filesystem::path& root = "/");

/// Reads a size such as "40G", "512M", "65536K" or "1073741824". Returns nothing for other texts
/// and for zero.
std::optional<uint64_t> parseByteCount(const std::string& text) noexcept;

} // namespace mneme::artifact
