#include "runtime/recorder/malloc_blocks.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <unistd.h>

#include "runtime/recorder/touched_pages.h"

namespace mneme::record {
namespace {

// glibc's chunks: the size of the one before, if that is free, then its own size with three flags.
// What is given out begins behind these, and takes the first word of the next chunk.
constexpr uint64_t kHeaderBytes = 16, kUnit = 16, kLeastChunk = 32;
constexpr uint64_t kIsBeforeUsed = 1, kIsMapped = 2, kFlags = 7;
/// What is mapped by itself is at least as large, unless a program asks for less.
constexpr uint64_t kLeastMapped = 128 << 10;
/// Larger blocks are not kept by threads, unless a program asks for that.
constexpr uint64_t kMostKept = 1040;
constexpr uint64_t kArenaBytes = 64 << 20;
constexpr uint64_t kPageBytes = 4096;
constexpr size_t kMostAtOnce = 512;
constexpr int kTries = 3; ///< other threads allocate meanwhile
constexpr std::chrono::microseconds kBetweenTries{500};
/// A heap that was lost so often, one time after the other, is not waited for any more.
constexpr int kMostLost = 2;
/// The tables of an arena stand before its first chunk; their size is the release's.
constexpr uint64_t kLeastTables = 2048, kMostTables = 4096;

struct Header {
  uint64_t before = 0;
  uint64_t size = 0;
};

/// A chunk as it begins; the smallest has as much.
struct Chunk {
  Header header;
  uint64_t words[2] = {};
};
constexpr uint64_t kIsKept = 2; ///< beside kIsBeforeUsed, in the begin of a chunk

/// The begin of a heap that belongs to an arena.
struct HeapInfo {
  uint64_t arena = 0;
  uint64_t previous = 0;
  uint64_t sizeBytes = 0;
  uint64_t writableBytes = 0;
};

template <typename Value> bool readValue(uint64_t address, Value& value) {
  return readHost(address, std::as_writable_bytes(std::span(&value, 1))) == sizeof(Value);
}

/// Reads headers one after the other, and no page in which there is none.
class Headers {
public:
  bool read(uint64_t address, uint64_t end, Chunk& chunk) {
    if (address < begin_ || address + kHeaderBytes > begin_ + sizeBytes_) {
      const uint64_t toNextPage = kPageBytes - address % kPageBytes;
      begin_ = address;
      sizeBytes_ =
          readHost(address, std::span(bytes_).first(std::min<uint64_t>(toNextPage, end - address)));
      if (sizeBytes_ < kHeaderBytes)
        return false;
    }
    const uint64_t here = std::min<uint64_t>(sizeof chunk, begin_ + sizeBytes_ - address);
    chunk = {};
    std::memcpy(&chunk, bytes_.data() + (address - begin_), here);
    // The next page was touched if a small chunk goes on there.
    const bool isCut = here < sizeof chunk && (chunk.header.size & ~kFlags) <= kMostKept;
    return !isCut || readValue(address, chunk);
  }

private:
  std::array<std::byte, kPageBytes> bytes_;
  uint64_t begin_ = 0;
  uint64_t sizeBytes_ = 0;
};

bool mayBeArena(const Mapping& mapping) {
  return mapping.begin % kArenaBytes == 0 &&
         TouchedPages().next(mapping.begin, mapping.begin + systemPageBytes()) != // nor unknown
             mapping.begin + systemPageBytes();
}

bool isMappedChunk(const Header& header, uint64_t left) {
  const uint64_t size = header.size & ~kFlags;
  return header.before == 0 && (header.size & kFlags) == kIsMapped && size % kPageBytes == 0 &&
         size >= kLeastMapped && size <= left;
}

/// The second word of a block of this size that was just freed.
uint64_t markOf(size_t sizeBytes) {
  void* volatile const probe = std::malloc(sizeBytes);
  const auto address = reinterpret_cast<uint64_t>(probe);
  std::free(probe);
  uint64_t word = 0;
  return probe && readValue(address + sizeof word, word) ? word : 0;
}

/// Looks a few times, and goes on for so long if nothing is found.
template <typename Look> auto tried(std::chrono::microseconds patience, const Look& look) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + patience;
  auto found = look();
  for (int tries = 1; !found && (tries < kTries || Clock::now() < end); ++tries) {
    if (tries >= kTries)
      std::this_thread::sleep_for(kBetweenTries);
    found = look();
  }
  return found;
}

/// Takes touched pages from `at` on, which is behind them afterwards, or at the end. If the system
/// does not tell which these are, it is the page at `at`, where `isExpected`, or none.
std::vector<uint64_t> nextPages(TouchedPages& touched, uint64_t& at, uint64_t end, uint64_t most,
                                bool isExpected) {
  std::vector<uint64_t> pages;
  while (pages.size() < most && at < end) {
    auto page = touched.next(at, end);
    if (!page && isExpected && pages.empty())
      page = at;
    if (!page)
      break;
    if (*page < end)
      pages.push_back(*page);
    at = std::min(*page + systemPageBytes(), end);
  }
  return pages;
}

} // namespace

MallocBlocks::MallocBlocks(uint64_t mostChunks, uint64_t mostPages,
                           std::chrono::microseconds patience)
    : mostChunks_(mostChunks), mostPages_(mostPages), patience_(patience) {
  learnMark();
}

/// Where a thread keeps no more of a size, a block of it has another word there.
void MallocBlocks::learnMark() {
  if (hostReadRefusal() != 0)
    return;
  const uint64_t marks[] = {markOf(1000), markOf(520), markOf(744)};
  mark_ = marks[0] == marks[1] || marks[0] == marks[2] ? marks[0]
          : marks[1] == marks[2]                       ? marks[1]
                                                       : 0;
}

/// Returns no chunks where there are too many.
std::optional<MallocBlocks::Chunks> MallocBlocks::walk(uint64_t begin, uint64_t end,
                                                       uint64_t (*endNow)()) const {
  Chunks chunks;
  Headers headers;
  Chunk chunk;
  for (uint64_t at = begin; at < end;) {
    if (!headers.read(at, end, chunk)) {
      if (at == endNow()) // the heap has shrunk meanwhile
        break;
      return std::nullopt;
    }
    const Header& header = chunk.header;
    const uint64_t size = header.size & ~kFlags;
    if (size > end - at) // it has grown
      end = endNow();
    if (size < kLeastChunk || size % kUnit != 0 || at >= end || size > end - at ||
        (header.size & kIsMapped))
      return std::nullopt;
    if (chunks.size() == mostChunks_)
      return Chunks();
    const bool isKept = mark_ != 0 && chunk.words[1] == mark_ && size <= kMostKept;
    chunks.push_back(at | (header.size & kIsBeforeUsed) | (isKept ? kIsKept : 0));
    at += size;
  }
  return chunks.empty() ? std::nullopt : std::optional(std::move(chunks));
}

std::optional<AddressRange> MallocBlocks::find(const std::optional<Chunks>& chunks,
                                               uint64_t address) {
  if (!chunks)
    return std::nullopt;
  // The first word of a chunk is the last of the block before.
  const auto next = std::upper_bound(chunks->begin(), chunks->end(), address,
                                     [](uint64_t wanted, uint64_t chunk) {
                                       return wanted < (chunk & ~kFlags) + sizeof(uint64_t);
                                     });
  if (next == chunks->begin() || next == chunks->end() || !(*next & kIsBeforeUsed) ||
      (*std::prev(next) & kIsKept))
    return std::nullopt;
  const uint64_t begin = (*std::prev(next) & ~kFlags) + kHeaderBytes;
  const uint64_t end = (*next & ~kFlags) + sizeof(uint64_t);
  return address >= begin ? std::optional(AddressRange{begin, end - begin}) : std::nullopt;
}

std::optional<AddressRange> MallocBlocks::inHeap(const Mapping& heap, uint64_t address) {
  const auto [known, isNew] = heaps_.try_emplace(heap.begin);
  if (isNew) {
    const bool isAwaited = heap.begin == knownHeap_ && timesLost_ < kMostLost;
    known->second = tried(isAwaited ? patience_ : patience_.zero(), [&] {
      return walk(heap.begin, heap.end, [] { return reinterpret_cast<uint64_t>(sbrk(0)); });
    });
    if (known->second) {
      knownHeap_ = heap.begin;
      timesLost_ = 0;
    } else if (heap.begin == knownHeap_) {
      isHeapLost_ = true;
      ++timesLost_;
    }
  }
  return find(known->second, address);
}

std::optional<MallocBlocks::Chunks> MallocBlocks::walkArena(const Mapping& mapping) const {
  HeapInfo info;
  if (!mayBeArena(mapping) || !readValue(mapping.begin, info) || info.sizeBytes == 0 ||
      info.sizeBytes % kPageBytes != 0 || info.sizeBytes > mapping.end - mapping.begin ||
      info.writableBytes < info.sizeBytes || info.writableBytes > kArenaBytes)
    return std::nullopt;
  const uint64_t end = mapping.begin + info.sizeBytes;
  const uint64_t offset = info.arena - mapping.begin;
  const bool isFirst = info.previous == 0 && offset >= sizeof(HeapInfo) && offset <= 64;
  if (!isFirst && (info.previous == 0 || info.previous % kArenaBytes != 0))
    return std::nullopt;
  const uint64_t first = isFirst ? info.arena + kLeastTables : mapping.begin + sizeof(HeapInfo);
  const uint64_t last = isFirst ? info.arena + kMostTables : mapping.begin + 64;
  for (uint64_t at = first / kUnit * kUnit; at <= last; at += kUnit)
    if (auto chunks = walk(at, end, [] { return uint64_t{0}; }); chunks && chunks->size() > 1)
      return chunks;
  return std::nullopt;
}

std::optional<AddressRange> MallocBlocks::inArena(const Mapping& mapping, uint64_t address) {
  const auto [known, isNew] = arenas_.try_emplace(mapping.begin);
  if (isNew)
    known->second = tried(patience_.zero(), [&] { return walkArena(mapping); });
  return find(known->second, address);
}

bool MallocBlocks::isArena(const Mapping& mapping) {
  inArena(mapping, mapping.begin);
  return arenas_.at(mapping.begin).has_value();
}

/// Blocks follow each other, or memory that others have mapped: the system joins what is alike. A
/// block's first page was touched, as its size is there.
std::vector<MallocBlocks::Part> MallocBlocks::scan(const Mapping& mapping) {
  std::vector<Part> parts;
  TouchedPages touched;
  std::vector<Header> headers;
  uint64_t at = mapping.begin;
  uint64_t known = at; // where the last part ends
  uint64_t left = mostPages_;
  size_t atOnce = 1;
  while (at < mapping.end && left > 0) {
    const auto pages =
        nextPages(touched, at, mapping.end, std::min<uint64_t>(atOnce, left), at == known);
    if (pages.empty())
      break;
    headers.resize(pages.size());
    const size_t read = readHostAt(pages, std::as_writable_bytes(std::span(headers)));
    pagesRead_ += read;
    left -= read;
    size_t index = 0;
    while (index < read && !isMappedChunk(headers[index], mapping.end - pages[index]))
      ++index;
    if (index < read) {
      const uint64_t begin = pages[index], size = headers[index].size & ~kFlags;
      if (known < begin)
        parts.push_back({{known, begin - known}, false});
      parts.push_back({{begin + kHeaderBytes, size - kHeaderBytes}, true});
      at = known = begin + size;
      atOnce = 1; // the next may follow
    } else if (read < pages.size()) {
      return parts; // a page is gone
    } else {
      atOnce = std::min(2 * atOnce, kMostAtOnce);
    }
  }
  if (known < at && at == mapping.end)
    parts.push_back({{known, at - known}, false});
  return parts;
}

bool MallocBlocks::hasSameBlocks(std::span<const Part> parts, uint64_t end) {
  std::vector<Header> headers;
  std::vector<uint64_t> pages;
  std::vector<uint64_t> sizes;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].isBlock) {
      pages.push_back(parts[i].range.begin - kHeaderBytes);
      sizes.push_back(parts[i].range.sizeBytes + kHeaderBytes);
    }
    if (pages.size() < kMostAtOnce && i + 1 < parts.size())
      continue;
    headers.resize(pages.size());
    const size_t read = readHostAt(pages, std::as_writable_bytes(std::span(headers)));
    pagesRead_ += read;
    for (size_t one = 0; one < pages.size(); ++one)
      if (one >= read || !isMappedChunk(headers[one], end - pages[one]) ||
          (headers[one].size & ~kFlags) != sizes[one])
        return false;
    pages.clear();
    sizes.clear();
  }
  return true;
}

std::optional<MallocBlocks::Part> MallocBlocks::inAnonymous(const Mapping& mapping,
                                                            uint64_t address) {
  const auto [one, isNew] = anonymous_.try_emplace(mapping.begin);
  Anonymous& known = one->second;
  if (isNew || (!known.isSure && !hasSameBlocks(known.parts, mapping.end)))
    known = {mapping.end, scan(mapping), true};
  known.isSure = true;
  for (const Part& part : known.parts)
    if (address - part.range.begin < part.range.sizeBytes)
      return part;
  return std::nullopt;
}

void MallocBlocks::look(std::span<const Mapping> mappings) {
  if (mark_ == 0)
    learnMark();
  heaps_.clear();
  isHeapLost_ = false;
  arenas_.clear();
  for (auto& [begin, known] : anonymous_)
    known.isSure = false;
  std::erase_if(anonymous_, [&](const auto& item) {
    const Mapping* const now = mappingAt(mappings, item.first);
    return !now || now->begin != item.first || now->end != item.second.end;
  });
}

} // namespace mneme::record
