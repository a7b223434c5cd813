#include "runtime/recorder/touched_pages.h"

#include <algorithm>

#include <fcntl.h>
#include <unistd.h>

#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/base/unique_fd.h"

namespace mneme::record {
namespace {

constexpr size_t kFirstEntries = 512, kMostEntries = 64 << 10;
/// What stands for 64 GiB takes a fraction of a second.
constexpr uint64_t kMostRead = 16 << 20;
constexpr uint64_t kIsPresent = 1ull << 63, kIsSwapped = 1ull << 62; // as are pages on a device

} // namespace

uint64_t systemPageBytes() noexcept {
  static const uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool TouchedPages::read(uint64_t from, uint64_t end) {
  const uint64_t page = systemPageBytes();
  const size_t wanted = std::clamp(entries_.size() * 2, kFirstEntries, kMostEntries);
  if (read_ >= kMostRead)
    return false;
  entries_.resize(std::min<uint64_t>(wanted, (end - from) / page));
  const ssize_t count = apart([&]() -> ssize_t {
    const UniqueFd file(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    return file ? pread(file.get(), entries_.data(), entries_.size() * sizeof(uint64_t),
                        static_cast<off_t>(from / page * sizeof(uint64_t)))
                : -1;
  });
  entries_.resize(count > 0 ? static_cast<size_t>(count) / sizeof(uint64_t) : 0);
  read_ += entries_.size();
  begin_ = from;
  return !entries_.empty();
}

std::optional<uint64_t> TouchedPages::next(uint64_t from, uint64_t end) {
  const uint64_t page = systemPageBytes();
  while (from < end) {
    const uint64_t known = begin_ + entries_.size() * page;
    if ((from < begin_ || from >= known) && !read(from, end))
      return std::nullopt;
    const auto first = entries_.begin() + static_cast<ptrdiff_t>((from - begin_) / page);
    const auto touched = std::find_if(
        first, entries_.end(), [](uint64_t entry) { return entry & (kIsPresent | kIsSwapped); });
    from = begin_ + static_cast<uint64_t>(touched - entries_.begin()) * page;
    if (touched != entries_.end())
      return std::min(from, end);
  }
  return end;
}

} // namespace mneme::record
