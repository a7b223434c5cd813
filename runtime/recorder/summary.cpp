#include "runtime/recorder/summary.h"

#include <array>
#include <cstdio>
#include <set>

#include "runtime/recorder/record_backend.h"

namespace mneme::record {
namespace {

constexpr size_t kMaxNotes = 20;
constexpr size_t kMaxNames = 8;
constexpr size_t kFewestGrouped = 5, kLongestName = 120;

std::string seconds(uint64_t nanoseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f s", static_cast<double>(nanoseconds) * 1e-9);
  return text.data();
}

std::string count(uint64_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

/// Instances lost for one reason become one sentence, in the order in which reasons first came up.
std::vector<std::string> groupLosses(const std::vector<std::string>& losses) {
  static const std::string mark = " was lost: ";
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> names;
  for (const std::string& loss : losses) {
    const size_t place = loss.find(mark);
    const std::string reason = place == std::string::npos ? loss : loss.substr(place + mark.size());
    if (!names.contains(reason))
      order.push_back(reason);
    names[reason].push_back(place == std::string::npos ? "" : loss.substr(0, place));
  }
  std::vector<std::string> sentences;
  for (const std::string& reason : order) {
    const std::vector<std::string>& who = names[reason];
    const std::string others =
        who.size() > 1 ? " and " + std::to_string(who.size() - 1) + " more were lost: " : mark;
    sentences.push_back(who.front().empty() ? withCount(reason, who.size())
                                            : who.front() + others + reason);
  }
  return sentences;
}

/// Names of templates may fill a screen.
std::string withoutMiddle(const std::string& name) {
  if (name.size() <= kLongestName)
    return name;
  return name.substr(0, kLongestName / 2) + "…" + name.substr(name.size() - kLongestName / 2);
}

/// What many kernels were left out for becomes one sentence.
std::vector<std::string> groupNotes(const std::map<std::string, uint64_t>& notes) {
  struct Group {
    std::vector<std::string> sentences;
    std::string firstKernel;
    uint64_t times = 0;
  };
  static const std::string begin = "kernel '", end = "': ";
  std::map<std::string, Group> groups; // by reason
  std::vector<std::string> order, sentences;
  for (const auto& [note, times] : notes) {
    const size_t stop = note.starts_with(begin) ? note.find(end) : std::string::npos;
    if (stop == std::string::npos) {
      sentences.push_back(withCount(note, times));
      continue;
    }
    const std::string reason = note.substr(stop + end.size());
    Group& group = groups[reason];
    if (group.sentences.empty()) {
      order.push_back(reason);
      group.firstKernel = note.substr(begin.size(), stop - begin.size());
    }
    group.sentences.push_back(withCount(note, times));
    group.times += times;
  }
  for (const std::string& reason : order) {
    const Group& group = groups[reason];
    const size_t kernels = group.sentences.size();
    if (kernels < kFewestGrouped)
      sentences.insert(sentences.end(), group.sentences.begin(), group.sentences.end());
    else
      sentences.push_back(withCount(begin + withoutMiddle(group.firstKernel) + "' and " +
                                        std::to_string(kernels - 1) + " more: " + reason,
                                    group.times));
  }
  return sentences;
}

std::string launches(uint64_t number) {
  return std::to_string(number) + (number == 1 ? " launch" : " launches");
}

std::string listOf(const std::set<std::string>& names) {
  std::string text;
  size_t shown = 0;
  for (const std::string& name : names) {
    if (++shown > kMaxNames)
      return text + " and " + std::to_string(names.size() - kMaxNames) + " more";
    text += (text.empty() ? "'" : ", '") + name + "'";
  }
  return text;
}

} // namespace

const char* const kNotInstrumented = "no kernel that can be recorded was launched: build the "
                                     "program with add_mneme() (see docs/cmake.md)";

const char* const kNoKernels =
    "no kernel was launched that can be recorded, and the program itself "
    "has none: build the libraries whose kernels it launches with add_mneme()";

std::string staticRuntime() {
  return std::string("the program is linked with the static vendor runtime, so its allocations "
                     "cannot be seen and nothing can be recorded; link it with the shared one (") +
         kSharedRuntimeHint + ")";
}

std::string nothingOfStaticRuntime() {
  return std::string("no kernel was seen; the program is linked with the static vendor runtime: if "
                     "it launched any, link it with the shared one (") +
         kSharedRuntimeHint + ")";
}

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
                  count(facts.kernels, "kernel") + " (" + launches(facts.launches) + ") into '" +
                  facts.directory + "'");
  if (writer.instancesWritten > 0)
    lines.push_back("memory: " + formatBytes(writer.rawBytes) + " described, " +
                    formatBytes(writer.uniqueBytes) + " unique, " +
                    formatBytes(writer.storedBytes) + " stored; time: " + seconds(facts.captureNs) +
                    " capturing (" + seconds(writer.waitNs) + " of it waiting for the disk), " +
                    seconds(facts.finishNs) + " at the end");
  lines.insert(lines.end(), facts.remarks.begin(), facts.remarks.end());
  if (!facts.unwanted.empty())
    lines.push_back("--kernels matches none of the kernels launched: " + listOf(facts.unwanted));
  if (facts.skipped > 0)
    lines.push_back("skipped " + launches(facts.skipped) + " as asked");
  if (writer.instancesLost > 0)
    lines.push_back("lost " + count(writer.instancesLost, "instance"));
  std::vector<std::string> sentences = groupLosses(writer.losses);
  const std::vector<std::string> notes = groupNotes(facts.notes);
  sentences.insert(sentences.end(), notes.begin(), notes.end());
  std::set<std::string> said;
  size_t shown = 0;
  for (const std::string& sentence : sentences)
    if (said.insert(sentence).second && ++shown <= kMaxNotes)
      lines.push_back(sentence);
  if (shown > kMaxNotes)
    lines.push_back("and " + std::to_string(shown - kMaxNotes) + " more; see the session file");
  return lines;
}

} // namespace mneme::record
