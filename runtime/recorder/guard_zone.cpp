#include "runtime/recorder/guard_zone.h"

#include <algorithm>

namespace mneme::record {
namespace {

/// Whether anything is mapped in [begin, end).
bool isAnyMapped(const GuardZone::Runs& runs, uint64_t begin, uint64_t end) {
  const auto next = runs.lower_bound(begin);
  if (next != runs.end() && next->first < end)
    return true;
  return next != runs.begin() && std::prev(next)->first + std::prev(next)->second > begin;
}

} // namespace

void GuardZone::makeRoom(uint64_t address, uint64_t sizeBytes) noexcept {
  if (pages_.empty())
    return;
  const uint64_t first = address / pageBytes_ * pageBytes_;
  for (auto page = pages_.lower_bound(first); page != pages_.end() && *page < address + sizeBytes;
       page = pages_.erase(page))
    backend_.unmapGuard(*page, pageBytes_);
}

void GuardZone::update(uint64_t address, uint64_t sizeBytes, const Runs& runs,
                       const std::set<unsigned>& sharers) {
  if (!isPossible())
    return;
  const uint64_t low = std::max(begin_, address - std::min(address, kGuardBytes));
  const uint64_t high = std::min(end_, address + sizeBytes + kGuardBytes);
  for (uint64_t page = low / pageBytes_ * pageBytes_; page < high; page += pageBytes_)
    if (page >= begin_ && page + pageBytes_ <= end_)
      settle(page, runs, sharers);
}

void GuardZone::settle(uint64_t page, const Runs& runs, const std::set<unsigned>& sharers) {
  if (isAnyMapped(runs, page, page + pageBytes_))
    return;
  const bool isNear =
      isAnyMapped(runs, page - std::min(page, kGuardBytes), page + pageBytes_ + kGuardBytes);
  const bool isThere = pages_.contains(page);
  if (isThere && !isNear) {
    backend_.unmapGuard(page, pageBytes_);
    pages_.erase(page);
  } else if (!isThere && isNear && !isRefused_) {
    pages_.insert(page); // first, for it may throw
    if (backend_.mapGuard(page, pageBytes_)) {
      for (const unsigned device : sharers)
        backend_.share(page, pageBytes_, device);
    } else {
      pages_.erase(page);
      isRefused_ = true;
    }
  }
}

void GuardZone::share(unsigned device) {
  for (const uint64_t page : pages_)
    backend_.share(page, pageBytes_, device);
}

void GuardZone::removeAll() noexcept {
  for (const uint64_t page : pages_)
    backend_.unmapGuard(page, pageBytes_);
  pages_.clear();
}

bool GuardZone::isGuard(uint64_t address) const {
  return isPossible() && pages_.contains(address / pageBytes_ * pageBytes_);
}

std::optional<uint64_t> GuardZone::place() const {
  return pages_.empty() ? std::nullopt : std::optional(*pages_.begin());
}

} // namespace mneme::record
