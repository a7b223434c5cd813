// Room core/base: what tells one image from another in results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/base/hash.h"

namespace mneme {

/// Launches of the same code with another carve-out of shared memory (0: the program's) are
/// not the same. mneme.deploy.loaded_code counts so, too.
inline std::string imageHash(std::span<const std::byte> image, uint32_t sharedCarveout) {
  if (sharedCarveout == 0)
    return toHex(hash128(image));
  const std::string more = "shared_carveout=" + std::to_string(sharedCarveout);
  std::vector<std::byte> told(image.begin(), image.end());
  const auto bytes = std::as_bytes(std::span(more));
  told.insert(told.end(), bytes.begin(), bytes.end());
  return toHex(hash128(told));
}

} // namespace mneme
