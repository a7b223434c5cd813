#include "runtime/core/artifact/directory.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <fcntl.h>
#include <unistd.h>

#include "runtime/core/artifact/directory_files.h"
#include "runtime/core/artifact/directory_lock.h"
#include "runtime/core/artifact/names.h"
#include "runtime/core/artifact/session_file.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"

namespace mneme::artifact {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

fs::path directoryOf(const fs::path& record) {
  return record.has_parent_path() ? record.parent_path() : fs::path(".");
}

[[noreturn]] void ioFailed(const std::string& what, const std::error_code& error) {
  throw Error(ErrorCode::IoFailed, what + ": " + error.message());
}

/// Somebody who keeps the lock is not waited for without bound. \throws Error{IoFailed}
DirectoryLock lockFor(const fs::path& directory) {
  LockPatience patience;
  DirectoryLock lock(directory, patience);
  if (lock.isTaken())
    throw Error(ErrorCode::IoFailed,
                lock.holder() + " keeps the directory '" + directory.string() +
                    "' locked; nothing in it was changed: try again when it has ended");
  return lock;
}

void syncFile(const fs::path& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || fsync(file.get()) != 0)
    throw Error(ErrorCode::IoFailed, systemMessage("cannot sync '" + path.string() + "'", errno));
}

/// Where copies lie until all of them are complete and checked.
class Staging {
public:
  explicit Staging(const fs::path& destination) : path_(temporaryName(destination / kStagingName)) {
    std::error_code error;
    if (!fs::create_directories(path_, error))
      ioFailed("cannot create '" + path_.string() + "'", error);
  }
  ~Staging() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

/// Compares piece by piece: snapshots may be larger than the memory.
bool hasSameContent(const fs::path& a, const fs::path& b) {
  if (!fs::is_regular_file(a) || !fs::is_regular_file(b) || fs::file_size(a) != fs::file_size(b))
    return false;
  std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
  std::vector<char> left(1 << 20), right(1 << 20);
  while (first && second) {
    first.read(left.data(), static_cast<std::streamsize>(left.size()));
    second.read(right.data(), static_cast<std::streamsize>(right.size()));
    if (first.gcount() != second.gcount() ||
        !std::equal(left.begin(), left.begin() + first.gcount(), right.begin()))
      return false;
  }
  return first.eof() && second.eof();
}

void refuseOther(const fs::path& existing, const fs::path& incoming) {
  if (!hasSameContent(existing, incoming))
    throw Error(ErrorCode::InvalidArgument, "'" + existing.string() +
                                                "' exists and differs from '" + incoming.string() +
                                                "'; choose another destination or remove it first");
}

/// Checks copies, of each file once: what a snapshot of one record needs, another one's may too.
void checkStaged(const Names& content, const Names& records, const fs::path& directory) {
  for (const std::string& name : content)
    if (name.ends_with(".mneme"))
      Snapshot::verifyStored(directory / name);
  Names checked;
  for (const std::string& name : records) {
    KernelRecord record = KernelRecord::load(directory / name);
    record.readImages(directory);
    for (size_t index = 0; index < record.modules.size(); ++index)
      record.readModule(directory, index);
    for (const std::string& snapshot : snapshotsOf(record))
      if (checked.insert(snapshot).second)
        Snapshot::open(directory / snapshot).verifyPlaces();
  }
}

void refuseTwo(const fs::path& staged, const fs::path& source) {
  // The message does not name the staged copy, because its folder is internal.
  if (!hasSameContent(staged, source))
    throw Error(ErrorCode::InvalidArgument,
                "'" + source.string() + "' differs from the '" + source.filename().string() +
                    "' of another of these recordings; choose a destination for each");
}

/// Copies everything into the staging directory and checks it there; returns the names, records
/// last.
std::vector<std::string> stage(const std::vector<fs::path>& records, const fs::path& destination,
                               const Staging& staging) {
  Names content, descriptions;
  std::map<std::string, fs::path> sources; // of what is staged
  for (const fs::path& record : records) {
    std::error_code ignored;
    if (fs::equivalent(directoryOf(record), destination, ignored))
      throw Error(ErrorCode::InvalidArgument,
                  "'" + record.string() + "' is already in '" + destination.string() + "'");
    for (const std::string& name : filesOfRecord(record)) {
      const fs::path source = directoryOf(record) / name;
      const fs::path copy = staging.path() / name;
      const auto [known, isNew] = sources.try_emplace(name, source);
      if (!isNew) {
        if (known->second != source)
          refuseTwo(copy, source);
        continue;
      }
      (isRecordName(name) ? descriptions : content).insert(name);
      if (fs::exists(destination / name))
        refuseOther(destination / name, source);
      std::error_code error;
      if (!fs::copy_file(source, copy, error))
        ioFailed("cannot copy '" + source.string() + "' to '" + destination.string() + "'", error);
      syncFile(copy);
    }
  }
  checkStaged(content, descriptions, staging.path());
  std::vector<std::string> order(content.begin(), content.end());
  order.insert(order.end(), descriptions.begin(), descriptions.end());
  return order;
}

void publishStaged(const std::vector<std::string>& names, const Staging& staging,
                   const fs::path& destination) {
  std::vector<fs::path> published;
  std::error_code error;
  for (const std::string& name : names) {
    const fs::path target = destination / name;
    if (fs::exists(target))
      continue; // stage() has seen that it is the same
    fs::rename(staging.path() / name, target, error);
    if (error) {
      std::error_code ignored;
      for (const fs::path& done : published)
        fs::remove(done, ignored);
      ioFailed("cannot publish '" + target.string() + "'", error);
    }
    published.push_back(target);
  }
}

/// Files of `directory` that records other than `leaving` need.
Names neededByOthers(const fs::path& directory, const Names& leaving) {
  Names needed;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if ((isRecordName(name) || isUnmergedName(name)) && !leaving.contains(name) &&
        isRecord(entry.path()))
      needed.merge(filesOfRecord(entry.path()));
  }
  return needed;
}

enum class Removal {
  Moved,   ///< there is a copy of all of it
  Deleted, ///< for good
};

/// Files of a record that cannot be read, by their names.
Names filesByName(const fs::path& record) {
  Names files = companionsOf(record);
  files.insert(record.filename().string());
  return files;
}

/// A record may name any file as its own; what goes with it has a name that only recorders give.
Names onlyOwn(const Names& files, const fs::path& record) {
  Names own;
  for (const std::string& name : files)
    if (name == record.filename() || isModuleName(name) || isSnapshotName(name))
      own.insert(name);
  return own;
}

Names filesToClean(const fs::path& record, Removal removal) {
  try {
    const Names files = filesOfRecord(record);
    return removal == Removal::Moved ? files : onlyOwn(files, record);
  } catch (const Error&) {
    if (!isRecord(record))
      throw;
    return filesByName(record);
  }
}

/// What killed or finished sessions left in a directory that has no record any more.
void removeLeftovers(const fs::path& directory, std::vector<fs::path>& removed) {
  std::vector<fs::path> leftovers;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (isRecordName(name) || isUnmergedName(name))
      return;
    if (isSessionFileName(name)) {
      const SessionNote note = readSessionFile(entry.path());
      if (note.isRunning)
        return;
      if (note.isReadable) {
        leftovers.push_back(entry.path());
        leftovers.push_back(pendingFileOf(entry.path()));
      }
    } else if (isTemporaryName(name)) {
      leftovers.push_back(entry.path());
    }
  }
  std::error_code ignored;
  for (const fs::path& path : leftovers)
    if (fs::remove_all(path, ignored) > 0)
      removed.push_back(path);
}

/// Deletes records with the files only they need, JSON first so that no reader sees half a record.
std::vector<fs::path> removeRecords(const std::vector<fs::path>& records, Removal removal) {
  std::map<fs::path, std::pair<Names, Names>> byDirectory; // records, all their files
  for (const fs::path& record : records) {
    auto& [leaving, files] = byDirectory[directoryOf(record)];
    leaving.insert(record.filename().string());
    files.merge(filesToClean(record, removal));
  }
  std::map<fs::path, Names> needed;
  for (const auto& [directory, sets] : byDirectory)
    needed[directory] = neededByOthers(directory, sets.first);
  std::vector<fs::path> removed;
  for (const auto& [directory, sets] : byDirectory) {
    const DirectoryLock lock = lockFor(directory);
    std::vector<std::string> order(sets.first.begin(), sets.first.end());
    for (const std::string& name : sets.second)
      if (!sets.first.contains(name) && !needed[directory].contains(name))
        order.push_back(name);
    for (const std::string& name : order) {
      std::error_code error;
      if (fs::remove(directory / name, error))
        removed.push_back(directory / name);
      else if (error)
        ioFailed("cannot remove '" + (directory / name).string() + "'", error);
    }
    removeLeftovers(directory, removed);
  }
  return removed;
}

} // namespace

DirectoryListing listDirectory(const fs::path& directory) {
  if (!fs::is_directory(directory))
    throw Error(ErrorCode::NotFound, "'" + directory.string() + "' is not a directory");
  DirectoryListing listing;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (isRecordName(name)) {
      listing.records.push_back(entry.path());
      if (!isRecord(entry.path()))
        listing.strangers.push_back(entry.path());
    } else if (isTemporaryName(name)) {
      listing.unfinished.push_back(entry.path());
    } else if (isUnmergedName(name)) {
      listing.notes.push_back("'" + entry.path().string() +
                              "' holds instances that wait for their kernel's record to be "
                              "readable; the next recording of the kernel adds them to it");
    } else if (isSessionFileName(name)) {
      const SessionNote note = readSessionFile(entry.path());
      listing.notes.insert(listing.notes.end(), note.sentences.begin(), note.sentences.end());
    }
  }
  std::sort(listing.records.begin(), listing.records.end());
  std::sort(listing.unfinished.begin(), listing.unfinished.end());
  return listing;
}

std::vector<fs::path> filesOf(const fs::path& record) {
  const fs::path directory = fs::absolute(directoryOf(record));
  std::vector<fs::path> files{fs::absolute(record)};
  for (const std::string& name : filesOfRecord(record))
    if (name != record.filename())
      files.push_back(directory / name);
  return files;
}

void copyRecords(const std::vector<fs::path>& records, const fs::path& destination) {
  std::error_code error;
  fs::create_directories(destination, error);
  if (!fs::is_directory(destination))
    throw Error(ErrorCode::IoFailed, "cannot create the directory '" + destination.string() + "'");
  const DirectoryLock lock = lockFor(destination);
  const Staging staging(destination);
  publishStaged(stage(records, destination, staging), staging, destination);
}

void moveRecords(const std::vector<fs::path>& records, const fs::path& destination) {
  copyRecords(records, destination);
  try {
    removeRecords(records, Removal::Moved);
  } catch (const Error& error) {
    throw Error(error.code(), "the records were copied to '" + destination.string() +
                                  "', but the originals could not be removed: " + error.what());
  }
}

std::vector<fs::path> cleanRecords(const std::vector<fs::path>& records) {
  return removeRecords(records, Removal::Deleted);
}

} // namespace mneme::artifact
