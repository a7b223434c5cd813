#include "runtime/core/artifact/session_file.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "runtime/core/artifact/json_fields.h"
#include "runtime/core/artifact/names.h"
#include "runtime/core/artifact/recording.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"

namespace mneme::artifact {
namespace {

using nlohmann::json;

constexpr size_t kMaxSentences = 100;
constexpr size_t kMaxSentenceBytes = 8192; ///< what counts stands at the end, behind long names

std::string hostName() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

std::string utcNow() {
  std::array<char, 32> text{};
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

/// Start time of a process in clock ticks: with the pid it names a process once. 0 if unknown.
uint64_t startTicks(uint64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name = line.rfind(')'); // the second field may hold anything
  if (name == std::string::npos)
    return 0;
  size_t place = name + 2;
  for (int field = 3; field < 22 && place != std::string::npos; ++field)
    place = line.find(' ', place) == std::string::npos ? place : line.find(' ', place) + 1;
  uint64_t ticks = 0;
  const size_t end = line.find(' ', place);
  return parseDecimal(line.substr(place, end - place), ticks) ? ticks : 0;
}

bool isAlive(uint64_t pid, uint64_t ticks) {
  if (pid == 0 || pid > INT32_MAX || (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH))
    return false;
  const uint64_t now = startTicks(pid);
  return now == 0 || ticks == 0 || now == ticks;
}

std::set<uint64_t> instancesIn(const std::filesystem::path& record) {
  std::set<uint64_t> found;
  try {
    for (const auto& [hash, instance] : KernelRecord::load(record).instances)
      found.insert(hash);
  } catch (const Error&) { // not there, or damaged
  }
  return found;
}

/// What a killed session had taken and no record has. One may be in its record although the
/// process was killed before it could say so.
std::vector<PendingInstance> lostInstances(const std::filesystem::path& sessionFile) {
  std::vector<PendingInstance> pending = readPendingFile(pendingFileOf(sessionFile));
  std::map<uint64_t, std::set<uint64_t>> written;
  std::erase_if(pending, [&](const PendingInstance& one) {
    const auto [record, isNew] = written.try_emplace(one.staticHash);
    if (isNew)
      record->second = instancesIn(sessionFile.parent_path() / recordName(one.staticHash));
    return record->second.contains(one.dynamicHash);
  });
  return pending;
}

} // namespace

SessionFile::SessionFile(const std::filesystem::path& directory) : started_(utcNow()) {
  path_ = directory / ("unfinished-" + std::to_string(getpid()) + kSessionFileEnd);
  // Another node's process may have the same id in a shared directory.
  if (std::filesystem::exists(path_))
    path_ = directory / ("unfinished-" + std::to_string(getpid()) + "-" + hostName() + "-" +
                         started_ + kSessionFileEnd);
  pending_.emplace(pendingFileOf(path_));
  pending_->remove(); // of a process that had this id before
  writeFileAtomically(path_, text(false));
}

std::string SessionFile::text(bool isFinished) const {
  json losses = losses_;
  if (unnamedLosses_ != 0)
    losses.push_back("and " + std::to_string(unnamedLosses_) + " more");
  const json root = {{"Pid", getpid()},    {"StartTicks", startTicks(getpid())},
                     {"Host", hostName()}, {"Started", started_},
                     {"Losses", losses},   {"Finished", isFinished}};
  return root.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

void SessionFile::addLoss(const std::string& sentence) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (isFinished_)
      return;
    if (losses_.size() >= kMaxSentences) {
      ++unnamedLosses_;
      return;
    }
    losses_.push_back(sentence);
    writeFileAtomically(path_, text(false));
  } catch (const std::exception&) { // a full disk: finish() tries again
  }
}

void SessionFile::finish() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    isFinished_ = true;
    pending_->remove();
    if (losses_.empty())
      std::filesystem::remove(path_);
    else
      writeFileAtomically(path_, text(true));
  } catch (const std::exception&) { // the file keeps saying that the session did not end well
  }
}

void SessionFile::reopen() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    isFinished_ = false;
    writeFileAtomically(path_, text(false));
  } catch (const std::exception&) { // as in addLoss()
  }
}

SessionNote readSessionFile(const std::filesystem::path& path) {
  SessionNote note;
  try {
    const json root = parseJson(readTextFile(path), path.string());
    const Fields fields(root, path.string(), "");
    const std::string pid = std::to_string(fields.u64("Pid"));
    const std::string who = "the recording session of process " + pid + " on " +
                            printable(fields.text("Host")) + ", started " +
                            printable(fields.text("Started")) + ",";
    note.isFinished = fields.boolean("Finished");
    const bool isHere = fields.text("Host") == hostName();
    note.isRunning =
        !note.isFinished && (!isHere || isAlive(fields.u64("Pid"), fields.u64("StartTicks")));
    if (note.isRunning)
      note.sentences.push_back(who + (isHere ? " is still running" : " runs or was killed there"));
    else if (!note.isFinished)
      note.sentences.push_back(who +
                               " was killed; what it had finished is listed, the rest is lost");
    if (!note.isRunning && !note.isFinished)
      for (const PendingInstance& lost : lostInstances(path))
        note.sentences.push_back(who + " lost instance " + std::to_string(lost.dynamicHash) +
                                 " of kernel '" + printable(lost.kernel) + "', " +
                                 std::to_string(lost.sizeBytes) +
                                 " bytes of memory: it was not on disk when the process ended");
    for (const std::string& loss : fields.strings("Losses"))
      note.sentences.push_back(who + " lost something: " + printable(loss, kMaxSentenceBytes));
    note.isReadable = true;
  } catch (const Error& error) {
    note.sentences.push_back("a session file cannot be read: " + std::string(error.what()));
  }
  return note;
}

bool hasOtherSession(const std::filesystem::path& directory,
                     const std::filesystem::path& own) noexcept {
  try {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      const std::string name = entry.path().filename().string();
      if (isSessionFileName(name) && name != own.filename() &&
          readSessionFile(entry.path()).isRunning)
        return true;
    }
    return false;
  } catch (const std::exception&) {
    return true; // unknown: behave as if somebody were there
  }
}

} // namespace mneme::artifact
