#include "runtime/recorder/record_settings.h"

#include <charconv>
#include <cstdlib>
#include <regex>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/start_directory.h"
#include "runtime/recorder/ranks.h"

namespace mneme::record {
namespace {

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

KernelFilter readKernels() {
  const std::string text = valueOf("MNEME_RR_KERNELS");
  try {
    return KernelFilter::parse(text);
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

void readGraphs(Settings& settings) {
  const std::string text = valueOf("MNEME_GRAPHS");
  if (!text.empty() && text != "parts" && text != "whole" && text != "kept")
    refuse("MNEME_GRAPHS", text, "is not one of parts, kept, whole");
  settings.areGraphsWhole = text == "whole";
  settings.areGraphsKept = text == "kept";
}

SectionMode readSections() {
  const std::string text = valueOf("MNEME_SECTIONS");
  if (!text.empty() && text != "only" && text != "ignored")
    refuse("MNEME_SECTIONS", text, "is neither only nor ignored");
  return text == "only"      ? SectionMode::Only
         : text == "ignored" ? SectionMode::Ignored
                             : SectionMode::Automatic;
}

} // namespace

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
  settings.isDirectoryChosen =
      !valueOf("MNEME_DATA_DIR").empty() && valueOf("MNEME_DATA_DIR_CHOSEN") != "0";
  checkLogDirectory();
  settings.windowBytes = readWindowBytes();
  settings.maxRecordings = readCount("MNEME_MAX_RECORDINGS", 4);
  settings.skipRecordings = readCount("MNEME_SKIP_RECORDINGS", 0);
  settings.kernels = readKernels();
  settings.shapes = readShapes();
  settings.epilogue = readEpilogue();
  settings.kernelPatience = readKernelPatience(settings.kernelPatience);
  settings.placement = readPlacement();
  readGraphs(settings);
  settings.sections = readSections();
  return settings;
}

} // namespace mneme::record
