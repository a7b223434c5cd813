#include "runtime/recorder/program_frames.h"

#include <algorithm>
#include <vector>

#include <link.h>
#include <unwind.h>

namespace mneme::record {
namespace {

constexpr size_t kMostFrames = 4096;

struct Walk {
  AddressRange own;
  uint64_t stackEnd = 0;
  uint64_t last = 0; ///< where the frame before ends
  std::vector<uint64_t> frames;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* user) {
  Walk& walk = *static_cast<Walk*>(user);
  const uint64_t end = _Unwind_GetCFA(context); // of its callee's frame
  if (end <= walk.last || end > walk.stackEnd)
    return _URC_END_OF_STACK; // tables are wrong: going on might read anything
  walk.last = end;
  const uint64_t code = _Unwind_GetIP(context) - 1; // it may be the call's very end
  if (code - walk.own.begin < walk.own.sizeBytes)
    walk.frames.clear(); // what is further in serves this library
  else
    walk.frames.push_back(end);
  return walk.frames.size() < kMostFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/// The segments of the file that this code is in.
AddressRange ownFile() noexcept {
  struct Search {
    uint64_t code = reinterpret_cast<uint64_t>(&ownFile);
    AddressRange found;
  } search;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* user) {
        auto& wanted = *static_cast<Search*>(user);
        uint64_t begin = ~0ull, end = 0;
        for (size_t index = 0; index < info->dlpi_phnum; ++index)
          if (const ElfW(Phdr) & segment = info->dlpi_phdr[index]; segment.p_type == PT_LOAD) {
            begin = std::min<uint64_t>(begin, info->dlpi_addr + segment.p_vaddr);
            end = std::max<uint64_t>(end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
          }
        if (begin >= end || wanted.code - begin >= end - begin)
          return 0;
        wanted.found = {begin, end - begin};
        return 1;
      },
      &search);
  return search.found;
}

} // namespace

std::vector<uint64_t> framesOutside(const AddressRange& own, uint64_t stackEnd) {
  Walk walk{own, stackEnd, 0, {}};
  walk.frames.reserve(kMostFrames); // unwinding cannot pass on exceptions
  _Unwind_Backtrace(visit, &walk);
  return walk.frames;
}

std::vector<uint64_t> programFrames(uint64_t stackEnd) {
  static const AddressRange own = ownFile();
  return framesOutside(own, stackEnd);
}

} // namespace mneme::record
