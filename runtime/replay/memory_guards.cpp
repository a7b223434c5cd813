// Room replay: MemoryImage, the part that puts zeros around recorded memory. Kernels that read a
// little outside of what their program allocated found memory there while they were recorded.
#include <algorithm>

#include "runtime/core/base/error.h"
#include "runtime/core/base/guard_page.h"
#include "runtime/replay/memory_image.h"

namespace mneme::replay {

namespace {

/// For more a device is not kept busy before the first launch: 8 GiB around 128 regions.
constexpr size_t kMostGuardPages = 4096;

} // namespace

/// Reserves [begin, end), whole pages, and what lies around it where that is granted, too.
void MemoryImage::reserveWithRoom(uint64_t begin, uint64_t end) {
  Room room{begin, end};
  if (const uint64_t page = device_.guardPageBytes(); page != 0 && begin > kGuardBytes) {
    room = {begin - kGuardBytes, end + kGuardBytes};
    const auto keepOff = [&](uint64_t otherBegin, uint64_t otherEnd) {
      if (otherEnd <= begin)
        room.begin = std::max(room.begin, otherEnd);
      if (otherBegin >= end)
        room.end = std::min(room.end, otherBegin);
    };
    for (const Extent& extent : extents_)
      keepOff(extent.recorded, extent.recorded + extent.sizeBytes);
    for (const Room& other : rooms_)
      keepOff(other.begin, other.end);
    if (room.begin % page != 0 || room.end % page != 0)
      room = {begin, end};
  }
  try {
    reservations_.push_back(DeviceBuffer::reserve(device_, room.begin, room.end - room.begin));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::AddressUnavailable || (room.begin == begin && room.end == end))
      throw;
    room = {begin, end};
    reservations_.push_back(DeviceBuffer::reserve(device_, begin, end - begin));
  }
  room.reservation = reservations_.size() - 1;
  rooms_.push_back(room);
}

/// The parts of a room within kGuardBytes of an extent.
std::vector<std::pair<uint64_t, uint64_t>> MemoryImage::guardsIn(const Room& room) const {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  uint64_t cursor = room.begin;
  const auto add = [&](uint64_t begin, uint64_t end) {
    begin = std::max(begin, cursor);
    if (begin < end)
      ranges.emplace_back(begin, end - begin);
    cursor = std::max(cursor, end);
  };
  for (size_t i = 0; i < extents_.size(); ++i) {
    const uint64_t begin = extents_[i].recorded, end = begin + extents_[i].sizeBytes;
    if (begin < room.begin || end > room.end || extents_[i].live != begin)
      continue;
    add(begin - std::min(begin, kGuardBytes), begin);
    cursor = end;
    const uint64_t next = i + 1 < extents_.size() ? extents_[i + 1].recorded : room.end;
    add(end, std::min({end + kGuardBytes, next, room.end}));
  }
  return ranges;
}

/// What cannot be guarded is left: a kernel that reads there fails, as it may alone.
void MemoryImage::layGuards() {
  const uint64_t page = device_.guardPageBytes();
  size_t pages = 0;
  try {
    for (const Room& room : page == 0 ? std::vector<Room>() : rooms_)
      for (const auto& [address, sizeBytes] : guardsIn(room)) {
        if ((pages += sizeBytes / page) > kMostGuardPages)
          return;
        reservations_[room.reservation].mapGuard(address, sizeBytes);
        hasGuards_ = true;
      }
  } catch (const Error&) { // no memory for it, or a system that has no such pages
  }
}

} // namespace mneme::replay
