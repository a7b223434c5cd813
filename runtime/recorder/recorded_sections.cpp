#include "runtime/recorder/recorded_sections.h"

#include <string_view>

#include "runtime/recorder/loaded_symbols.h"

namespace mneme::record {
namespace {

constexpr std::string_view kBegin = "mneme_record_begin";

int look(dl_phdr_info* info, size_t, void*) {
  return importsAny(*info, [](std::string_view name) { return name == kBegin; });
}

/// "step/advection"
std::string pathOf(const std::vector<std::string>& labels) {
  std::string path;
  for (const std::string& label : labels)
    path += (path.empty() ? "" : "/") + label;
  return path;
}

std::string times(int64_t number) {
  return number == 1 ? "once" : std::to_string(number) + " times";
}

std::string launches(uint64_t number) {
  return std::to_string(number) + (number == 1 ? " launch" : " launches");
}

} // namespace

bool callsSections() noexcept { return dl_iterate_phdr(look, nullptr) != 0; }

RecordedSections::RecordedSections(SectionMode mode)
    : isIgnored_(mode == SectionMode::Ignored),
      isLimiting_(mode == SectionMode::Only ||
                  (mode == SectionMode::Automatic && callsSections())) {}

int64_t RecordedSections::open(const std::string& kernels) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Filter>& filter = filters_[kernels];
  if (!filter) {
    try {
      filter = std::make_shared<Filter>(Filter{KernelFilter::parse(kernels), {}, {}});
    } catch (...) {
      filters_.erase(kernels);
      throw;
    }
  }
  open_[++begun_] = filter;
  isLimiting_ = !isIgnored_;
  return begun_;
}

void RecordedSections::close(int64_t section) {
  const std::lock_guard lock(mutex_);
  open_.erase(section);
}

bool RecordedSections::matches(Filter& filter, const KernelInfo& info, const std::string& path) {
  if (filter.filter.isEmpty())
    return true;
  if (const auto [known, isNew] = filter.kernels.try_emplace(info.blob->kernel, false); isNew)
    known->second = filter.filter.wants(info.blob->kernel, info.blob->demangled, info.blob->place);
  if (filter.kernels[info.blob->kernel])
    return true;
  if (path.empty())
    return false;
  if (const auto [known, isNew] = filter.labels.try_emplace(path, false); isNew)
    known->second = filter.filter.wantsLabel(path);
  return filter.labels[path];
}

bool RecordedSections::wants(const KernelInfo& info, const std::vector<std::string>& labels) {
  if (!isLimiting_.load(std::memory_order_relaxed)) {
    before_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  const std::lock_guard lock(mutex_);
  const std::string path = open_.empty() ? "" : pathOf(labels);
  bool isWanted = false;
  for (const auto& [section, filter] : open_) {
    const bool isMatch = info.blob ? matches(*filter, info, path) : filter->filter.isEmpty();
    (isMatch ? filter->hasMatched : filter->hasMissed) = true;
    isWanted |= isMatch;
  }
  ++(isWanted ? inside_ : outside_);
  return isWanted;
}

void RecordedSections::remark(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  remarks_.insert(sentence);
}

std::vector<std::string> RecordedSections::summary() const {
  std::vector<std::string> lines;
  if (!isLimiting_)
    return lines;
  const std::lock_guard lock(mutex_);
  if (begun_ == 0)
    return {"only sections of the program are recorded, and none began (mneme.recording, "
            "mneme_record_begin): --no-sections records the whole run"};
  lines.push_back("only sections of the program were recorded: they began " + times(begun_) +
                  " and had " + std::to_string(inside_) + " of " + launches(inside_ + outside_));
  if (before_ > 0)
    lines.push_back(launches(before_) +
                    " came before the first section and counted as in any run: --sections records "
                    "none of these");
  for (const auto& [text, filter] : filters_)
    if (filter->hasMissed && !filter->hasMatched)
      lines.push_back("the filter of a section, '" + text +
                      "', matches none of the kernels launched in it");
  lines.insert(lines.end(), remarks_.begin(), remarks_.end());
  return lines;
}

} // namespace mneme::record
