// Room recorder: what is mapped in this process, and reading it while other threads change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mneme::record {

/// A mapping of this process.
struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool isReadable = false;
  bool isWritable = false;
  bool isShared = false;
  std::string name; ///< path of a file, "[heap]" and the like; empty for anonymous memory
  bool isAnonymous() const noexcept { return name.empty() || name.starts_with("[anon"); }
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

/// Reads a line of /proc/<pid>/maps; nothing if it is none.
std::optional<Mapping> mappingOf(std::string_view line);

/// The mappings of this process, by address. Empty if the system does not tell.
std::vector<Mapping> hostMappings();

/// Returns the mapping that contains an address; null if there is none. They are in order.
const Mapping* mappingAt(std::span<const Mapping> mappings, uint64_t address) noexcept;

/// Why the system lets no memory of this process be read, as filters of system calls do: an error
/// number, or 0 if it lets it be read.
int hostReadRefusal() noexcept;
/// Copies memory of this process that another thread may unmap meanwhile. Returns how many bytes
/// could be read before the first page that is gone. \throws Error if the system refuses
size_t readHost(uint64_t address, std::span<std::byte> bytes);
/// The same; pages that are gone are zeros. \throws Error as readHost()
void copyHost(uint64_t address, std::span<std::byte> bytes);
/// Reads as many bytes at each of these addresses, 1024 at most, as `bytes` has for one. Returns
/// how many were read before the first that is gone. \throws Error as readHost()
size_t readHostAt(std::span<const uint64_t> addresses, std::span<std::byte> bytes);

} // namespace mneme::record
