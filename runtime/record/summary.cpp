#include "runtime/record/summary.h"

#include <array>
#include <cstdio>
#include <set>

namespace mneme::record {
namespace {

constexpr size_t kMaxNotes = 20;

std::string seconds(uint64_t nanoseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f s", static_cast<double>(nanoseconds) * 1e-9);
  return text.data();
}

std::string count(uint64_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

} // namespace

const char* const kNotInstrumented =
    "no instrumented kernel was launched: build the program with add_mneme() (see docs/cmake.md)";
const char* const kStaticRuntime =
    "the program is linked with the static vendor runtime, so its allocations cannot be seen and "
    "nothing can be recorded; link it with the shared one (-lcudart, CUDA::cudart)";

std::string withCount(const std::string& reason, uint64_t times) {
  return times > 1 ? reason + " (" + std::to_string(times) + " times)" : reason;
}

std::string formatBytes(uint64_t bytes) {
  static constexpr std::array<const char*, 5> units = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024)
    return std::to_string(bytes) + " bytes";
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit)
    value /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", value, units[unit]);
  return text.data();
}

std::vector<std::string> summaryLines(const SummaryFacts& facts) {
  std::vector<std::string> lines;
  const artifact::WriterStatistics& writer = facts.writer;
  if (facts.launches == 0)
    return lines;
  lines.push_back("recorded " + count(writer.instancesWritten, "instance") + " of " +
                  count(facts.kernels, "kernel") + " (" + std::to_string(facts.launches) +
                  (facts.launches == 1 ? " launch" : " launches") + ") into '" + facts.directory +
                  "'");
  if (writer.instancesWritten > 0)
    lines.push_back("memory: " + formatBytes(writer.rawBytes) + " described, " +
                    formatBytes(writer.uniqueBytes) + " unique, " +
                    formatBytes(writer.storedBytes) + " stored; time: " + seconds(facts.captureNs) +
                    " capturing (" + seconds(writer.waitNs) + " of it waiting for the disk), " +
                    seconds(facts.finishNs) + " at the end");
  if (facts.skipped > 0)
    lines.push_back("skipped " + count(facts.skipped, "instance") + " as asked");
  if (writer.instancesLost > 0)
    lines.push_back("lost " + count(writer.instancesLost, "instance"));
  std::set<std::string> said;
  for (const auto& [reason, times] : facts.notes)
    said.insert(withCount(reason, times));
  said.insert(writer.losses.begin(), writer.losses.end());
  size_t shown = 0;
  for (const std::string& sentence : said)
    if (++shown <= kMaxNotes)
      lines.push_back(sentence);
  if (shown > kMaxNotes)
    lines.push_back("and " + std::to_string(shown - kMaxNotes) + " more; see the session file");
  return lines;
}

} // namespace mneme::record
