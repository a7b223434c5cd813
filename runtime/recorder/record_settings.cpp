#include "runtime/recorder/record_settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/start_directory.h"
#include "runtime/recorder/ranks.h"

namespace mneme::record {
namespace {

/// std::regex recurses once per character: longer names are cut, not matched to the end.
constexpr size_t kMaxMatchedName = 4096;
constexpr double kMaxWindowGiB = 1024;
constexpr double kMaxPatienceSeconds = 1'000'000;

[[noreturn]] void refuse(const char* variable, const std::string& value, const std::string& what) {
  throw Error(ErrorCode::InvalidArgument,
              std::string(variable) + "='" + value + "' " + what + "; the program runs unrecorded");
}

std::string valueOf(const char* variable) {
  const char* text = environmentValue(variable);
  return text ? text : "";
}

uint64_t readCount(const char* variable, uint64_t otherwise) {
  const std::string text = valueOf(variable);
  if (text.empty())
    return otherwise;
  uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size())
    refuse(variable, text, "is not a whole number");
  return value;
}

uint64_t readWindowBytes() {
  const std::string text = valueOf("MNEME_PAGE_SIZE");
  if (text.empty())
    return 0;
  char* end = nullptr;
  const double gib = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !(gib > 0) || gib > kMaxWindowGiB)
    refuse("MNEME_PAGE_SIZE", text, "is not a size in GiB between 0 and 1024");
  return static_cast<uint64_t>(gib * static_cast<double>(1ull << 30));
}

std::chrono::nanoseconds readKernelPatience(std::chrono::nanoseconds otherwise) {
  const std::string text = valueOf("MNEME_KERNEL_PATIENCE");
  if (text.empty())
    return otherwise;
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !(seconds > 0) || seconds > kMaxPatienceSeconds)
    refuse("MNEME_KERNEL_PATIENCE", text, "is not a time in seconds between 0 and 1000000");
  return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

std::filesystem::path readDirectory() {
  const std::string text = valueOf("MNEME_DATA_DIR");
  std::error_code error;
  if (text.empty())
    return startDirectory();
  const std::filesystem::path directory = startDirectory() / text;
  if (!std::filesystem::is_directory(directory, error))
    refuse("MNEME_DATA_DIR", text, "is not an existing directory");
  return directory;
}

void checkLogDirectory() {
  const std::string text = valueOf("MNEME_LOG_DIR");
  std::error_code error;
  if (!text.empty() && !std::filesystem::is_directory(startDirectory() / text, error))
    refuse("MNEME_LOG_DIR", text, "is not an existing directory");
}

/// The alternatives of a regular expression.
std::vector<std::string> alternativesOf(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (size_t index = 0; index < text.size(); ++index) {
    const char letter = text[index];
    if (letter == '|' && depth == 0) {
      parts.emplace_back();
      continue;
    }
    parts.back() += letter;
    if (letter == '\\' && index + 1 < text.size())
      parts.back() += text[++index];
    else if (letter == '(' || letter == '[')
      ++depth;
    else if (letter == ')' || letter == ']')
      --depth;
  }
  return parts;
}

void readKernels(Settings& settings) {
  const std::string text = valueOf("MNEME_RR_KERNELS");
  std::optional<std::string> names;
  for (const std::string& part : alternativesOf(text))
    if (const std::optional<SourceLine> line = SourceLine::parse(part))
      settings.lines.push_back(*line);
    else
      names = names ? *names + "|" + part : part;
  if (text.empty() || !names)
    return;
  try {
    settings.kernels = std::regex(*names, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    refuse("MNEME_RR_KERNELS", text,
           std::string("is not a regular expression (") + error.what() + ")");
  }
}

LaunchShapes readShapes() {
  const std::string text = valueOf("MNEME_RECORD_DIMS");
  const std::optional<LaunchShapes> shapes = LaunchShapes::parse(text);
  if (!shapes)
    refuse("MNEME_RECORD_DIMS", text, "is not a list of GRID/BLOCK such as '64x8/256;128/32x32'");
  return *shapes;
}

artifact::EpilogueFormat readEpilogue() {
  const std::string text = valueOf("MNEME_EPILOGUE_TYPE");
  if (text.empty() || text == "diff" || text == "best")
    return artifact::EpilogueFormat::Diff;
  if (text == "bytes")
    return artifact::EpilogueFormat::Bytes;
  refuse("MNEME_EPILOGUE_TYPE", text, "is not one of bytes, diff, best");
}

Placement readPlacement() {
  const std::string text = valueOf("MNEME_ALLOCATIONS");
  if (text.empty())
    return Placement::Automatic;
  if (text == "window")
    return Placement::Window;
  if (text == "vendor")
    return Placement::Vendor;
  refuse("MNEME_ALLOCATIONS", text, "is neither window nor vendor");
}

bool readGraphsWhole() {
  const std::string text = valueOf("MNEME_GRAPHS");
  if (!text.empty() && text != "parts" && text != "whole")
    refuse("MNEME_GRAPHS", text, "is neither parts nor whole");
  return text == "whole";
}

} // namespace

bool Settings::wants(const std::string& mangled, const std::string& demangled,
                     const SourcePlace& place) const {
  if (!kernels && lines.empty())
    return true;
  return std::ranges::any_of(lines, [&](const SourceLine& line) { return line.isIn(place); }) ||
         wantsLabel(mangled) || wantsLabel(demangled);
}

bool Settings::wantsLabel(const std::string& label) const {
  return kernels && std::regex_search(label.substr(0, kMaxMatchedName), *kernels);
}

Settings readSettings() {
  if (isPrivileged())
    throw Error(
        ErrorCode::Unsupported,
        "the program has more rights than its caller (set-user-id or file capabilities), so "
        "it runs unrecorded");
  Settings settings;
  settings.isRankRecorded = isRankListed(recordedRanks(), processRank());
  if (!settings.isRankRecorded)
    return settings;
  settings.directory = readDirectory();
  checkLogDirectory();
  settings.windowBytes = readWindowBytes();
  settings.maxRecordings = readCount("MNEME_MAX_RECORDINGS", 4);
  settings.skipRecordings = readCount("MNEME_SKIP_RECORDINGS", 0);
  readKernels(settings);
  settings.shapes = readShapes();
  settings.epilogue = readEpilogue();
  settings.kernelPatience = readKernelPatience(settings.kernelPatience);
  settings.placement = readPlacement();
  settings.areGraphsWhole = readGraphsWhole();
  return settings;
}

} // namespace mneme::record
