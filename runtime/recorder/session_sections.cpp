// Which launches are wanted: by their kernels' names, by labels, and by sections of the program.
#include <filesystem>
#include <regex>

#include "runtime/core/base/log.h"
#include "runtime/core/base/sentence.h"
#include "runtime/recorder/session.h"

namespace mneme::record {

/// Each label, and all of them as a path: "step/advection".
bool Session::wantsLabels(const std::vector<std::string>& labels) {
  if (labels.empty() || !settings_.kernels.names)
    return false;
  const std::lock_guard lock(labelsMutex_);
  const auto [known, isNew] = wantedLabels_.try_emplace(labels, false);
  if (isNew) {
    std::string path;
    for (const std::string& label : labels)
      path += (path.empty() ? "" : "/") + label;
    known->second = settings_.wantsLabel(path);
  }
  return known->second;
}

bool Session::isWantedNow(const KernelInfo& info, const std::vector<std::string>& labels) {
  return (info.isWanted || wantsLabels(labels)) && sections_->wants(info, labels);
}

/// Makes the directory that a section asks for and records there, if nothing says otherwise.
/// Returns a problem, or nothing.
std::string Session::useDirectory(const std::string& directory) {
  if (directory.empty() || settings_.sections == SectionMode::Ignored)
    return "";
  const std::lock_guard lock(directoryMutex_);
  std::error_code error;
  const std::filesystem::path asked = std::filesystem::absolute(directory, error);
  const bool isSame = std::filesystem::equivalent(asked, settings_.directory, error);
  if (isSame)
    return "";
  if (settings_.isDirectoryChosen || writer_) {
    sections_->remark("a section asked for the directory '" + directory +
                      "'; a run is recorded in one directory, '" + settings_.directory.string() +
                      "'");
    return "";
  }
  std::filesystem::create_directories(asked, error);
  if (error)
    return "the directory '" + directory + "' cannot be made: " + error.message();
  settings_.directory = asked;
  settings_.isDirectoryChosen = true;
  return "";
}

int64_t Session::beginSection(const char* directory, const char* kernels) {
  if (!isOwner() || !isActive())
    return 0;
  std::string problem;
  try {
    const CallGuard guard; // no launch is being recorded meanwhile
    if (!guard.session())
      return 0;
    const std::string filter = kernels ? kernels : "";
    const int64_t section = sections_->open(filter);
    problem = useDirectory(directory ? directory : "");
    if (problem.empty())
      return section;
    sections_->close(section);
  } catch (const std::regex_error& error) {
    problem = sentence("'", kernels, "' is not a regular expression (", error.what(), ")");
  } catch (const std::exception& error) {
    problem = error.what();
  }
  notice(sentence("a section is not recorded: ", problem));
  return -1;
}

void Session::endSection(int64_t section) noexcept {
  if (!isOwner() || !sections_)
    return;
  try {
    sections_->close(section);
  } catch (const std::exception&) { // a lock that fails: the section stays open
  }
}

} // namespace mneme::record
