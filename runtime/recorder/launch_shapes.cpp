#include "runtime/recorder/launch_shapes.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace mneme::record {
namespace {

template <typename T> bool readNumber(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

/// What stands before `separator`, which goes, too; all where there is none.
std::string_view cut(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::optional<mneme_dim3> readDims(std::string_view text) {
  if (text.ends_with('x'))
    return std::nullopt;
  mneme_dim3 dims{1, 1, 1};
  for (uint32_t* axis : {&dims.x, &dims.y, &dims.z}) {
    if (!readNumber(cut(text, 'x'), *axis) || *axis == 0)
      return std::nullopt;
    if (text.empty())
      return dims;
  }
  return std::nullopt;
}

bool areEqual(const mneme_dim3& a, const mneme_dim3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

} // namespace

std::optional<LaunchShapes::Entry> LaunchShapes::parseEntry(std::string_view text) {
  Entry entry;
  if (text.find(':') != std::string_view::npos)
    entry.kernel = cut(text, ':');
  if (const size_t at = text.rfind('@'); at != std::string_view::npos) {
    if (!readNumber(text.substr(at + 1), entry.first))
      return std::nullopt;
    text = text.substr(0, at);
  }
  const auto grid = readDims(cut(text, '/'));
  const auto block = readDims(cut(text, '/'));
  if (!grid || !block)
    return std::nullopt;
  entry.grid = *grid;
  entry.block = *block;
  if (!text.empty() && !readNumber(text, entry.sharedBytes.emplace()))
    return std::nullopt;
  return entry;
}

std::optional<LaunchShapes> LaunchShapes::parse(std::string_view text) {
  LaunchShapes shapes;
  while (!text.empty()) {
    std::optional<Entry> entry = parseEntry(cut(text, ';'));
    if (!entry)
      return std::nullopt;
    shapes.entries_.push_back(std::move(*entry));
  }
  return shapes;
}

LaunchShapes::Match LaunchShapes::match(std::string_view kernel, const mneme_launch& launch) const {
  Match match;
  uint64_t ofKernel = 0;
  for (size_t index = 0; index < entries_.size(); ++index) {
    const Entry& entry = entries_[index];
    if (!entry.kernel.empty() && entry.kernel != kernel)
      continue;
    ++ofKernel;
    if (match.entry == 0 && areEqual(entry.grid, launch.grid) &&
        areEqual(entry.block, launch.block) &&
        entry.sharedBytes.value_or(launch.sharedBytes) == launch.sharedBytes) {
      match.entry = index + 1;
      match.first = entry.first;
    }
  }
  match.isWanted = ofKernel == 0 || match.entry != 0;
  match.ofKernel = std::max<uint64_t>(ofKernel, 1);
  return match;
}

} // namespace mneme::record
