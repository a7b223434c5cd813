// Room artifact (internal): how much of the machine the writer takes inside somebody's application.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace mneme::artifact {

/// Cores this process may run on, at least 1.
unsigned availableCores() noexcept;

/// Makes the calling thread, and those it starts, give way to the application's.
void lowerPriority() noexcept;

/// Memory this process can still use: the least of what the system and its control groups leave.
/// \param root  "/", or a directory that stands for it
std::optional<uint64_t> availableMemory(const std::filesystem::path& root = "/");

/// "40G", "512M", "65536K", "1073741824"; nothing if it is none of these or zero.
std::optional<uint64_t> parseByteCount(const std::string& text) noexcept;

} // namespace mneme::artifact
