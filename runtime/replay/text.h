// Room replay: small pieces of text for users.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>

namespace mneme::replay {

/// "0x600000000000"
inline std::string hexText(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

} // namespace mneme::replay
