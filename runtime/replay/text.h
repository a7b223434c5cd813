// Room replay: small pieces of text for users.
#pragma once

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

namespace mneme::replay {

/// "0x600000000000"
inline std::string hexText(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

/// The present time: ISO 8601, UTC, microseconds.
inline std::string timeText() {
  const auto now = std::chrono::system_clock::now();
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  const std::time_t seconds = micros / 1000000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char day[32], text[64];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof text, "%s.%06lld+00:00", day,
                static_cast<long long>(micros % 1000000));
  return text;
}

} // namespace mneme::replay
