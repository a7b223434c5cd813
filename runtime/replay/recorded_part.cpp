#include "runtime/replay/recorded_part.h"

#include <charconv>
#include <cstdint>
#include <string_view>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"

namespace mneme::replay {

namespace {

constexpr const char* kVariable = "MNEME_MULTIPROCESSORS";

/// How many multiprocessors are asked for; 0: all.
uint32_t wantedMultiprocessors(const artifact::DevicePart& part) {
  const char* const value = environmentValue(kVariable);
  const std::string_view text = value ? value : "";
  if (text.empty())
    return part.multiprocessors;
  uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (text != "all" && (error != std::errc() || end != text.data() + text.size() || count == 0))
    throw Error(ErrorCode::InvalidArgument, std::string(kVariable) + " is '" + value +
                                                "', which is neither a number of multiprocessors "
                                                "nor 'all'");
  return count;
}

} // namespace

std::string useRecordedPart(device::Device& device, const artifact::DevicePart& part) {
  const uint32_t wanted = wantedMultiprocessors(part), all = device.description().multiprocessors;
  if (wanted == 0 && part.multiprocessors == 0)
    return "";
  const uint32_t used = wanted > 0 ? device.usePart(wanted) : all;
  if (used == 0 || device.description().target.starts_with("cpu"))
    return "";
  std::string text = used == all ? "ran on all " + std::to_string(all) + " multiprocessors"
                                 : "ran on " + std::to_string(used) + " of " + std::to_string(all) +
                                       " multiprocessors";
  if (used == part.multiprocessors)
    return text + ", as the recorded launch";
  if (part.multiprocessors > 0)
    text += ", the recorded launch on " + std::to_string(part.multiprocessors);
  return wanted > 0 && used != wanted
             ? text + ": the device has no part of " + std::to_string(wanted)
             : text;
}

} // namespace mneme::replay
