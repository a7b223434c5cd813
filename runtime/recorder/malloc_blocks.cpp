#include "runtime/recorder/malloc_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

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
constexpr uint64_t kWindowBytes = 64 << 10;
constexpr int kTries = 3; ///< other threads allocate meanwhile
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

/// Reads headers one after the other.
class Headers {
public:
  bool read(uint64_t address, uint64_t end, Chunk& chunk) {
    if (address < begin_ || address + sizeof(Chunk) > begin_ + sizeBytes_) {
      bytes_.resize(kWindowBytes);
      begin_ = address;
      sizeBytes_ = readHost(
          address, std::span(bytes_).first(std::min<uint64_t>(kWindowBytes, end - address)));
      if (sizeBytes_ < sizeof(Chunk))
        return false;
    }
    std::memcpy(&chunk, bytes_.data() + (address - begin_), sizeof chunk);
    return true;
  }

private:
  std::vector<std::byte> bytes_;
  uint64_t begin_ = 0;
  uint64_t sizeBytes_ = 0;
};

/// The headers that chunks would have at these pages.
std::vector<Header> headersOfPages(uint64_t begin, size_t pages) {
  std::vector<Header> headers(pages);
  std::vector<iovec> there;
  for (size_t page = 0; page < pages; ++page)
    there.push_back({reinterpret_cast<void*>(begin + page * kPageBytes), sizeof(Header)});
  iovec here{headers.data(), pages * sizeof(Header)};
  const ssize_t count = process_vm_readv(getpid(), &here, 1, there.data(), pages, 0);
  headers.resize(count > 0 ? static_cast<size_t>(count) / sizeof(Header) : 0);
  return headers;
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

} // namespace

/// Where a thread keeps no more of a size, a block of it has another word there.
MallocBlocks::MallocBlocks() {
  const uint64_t marks[] = {markOf(1000), markOf(520), markOf(744)};
  mark_ = marks[0] == marks[1] || marks[0] == marks[2] ? marks[0]
          : marks[1] == marks[2]                       ? marks[1]
                                                       : 0;
}

std::optional<MallocBlocks::Chunks> MallocBlocks::walk(uint64_t begin, uint64_t end,
                                                       uint64_t (*endNow)()) const {
  Chunks chunks;
  Headers headers;
  Chunk chunk;
  for (uint64_t at = begin; at < end;) {
    if (!headers.read(at, end, chunk))
      return std::nullopt;
    const Header& header = chunk.header;
    const uint64_t size = header.size & ~kFlags;
    if (size > end - at) // the heap has grown meanwhile
      end = endNow();
    if (size < kLeastChunk || size % kUnit != 0 || at >= end || size > end - at ||
        (header.size & kIsMapped))
      return std::nullopt;
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
  for (int tries = 0; isNew && tries < kTries && !known->second; ++tries)
    known->second = walk(heap.begin, heap.end, [] { return reinterpret_cast<uint64_t>(sbrk(0)); });
  return find(known->second, address);
}

std::optional<MallocBlocks::Chunks> MallocBlocks::walkArena(const Mapping& mapping) const {
  HeapInfo info;
  if (mapping.begin % kArenaBytes != 0 || !readValue(mapping.begin, info) || info.sizeBytes == 0 ||
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
  for (int tries = 0; isNew && tries < kTries && !known->second; ++tries)
    known->second = walkArena(mapping);
  return find(known->second, address);
}

bool MallocBlocks::isArena(const Mapping& mapping) {
  inArena(mapping, mapping.begin);
  return arenas_.at(mapping.begin).has_value();
}

std::vector<MallocBlocks::Part> MallocBlocks::scan(const Mapping& mapping) {
  constexpr size_t kPagesAtOnce = 512;
  std::vector<Part> parts;
  const auto addUnknown = [&](uint64_t begin, uint64_t end) {
    if (begin < end && !parts.empty() && !parts.back().isBlock)
      parts.back().range.sizeBytes += end - begin;
    else if (begin < end)
      parts.push_back({{begin, end - begin}, false});
  };
  for (uint64_t at = mapping.begin; at < mapping.end;) {
    const uint64_t pages = (mapping.end - at) / kPageBytes;
    const auto headers = headersOfPages(at, std::min<uint64_t>(kPagesAtOnce, pages));
    if (headers.empty())
      return addUnknown(at, mapping.end), parts;
    uint64_t next = at + headers.size() * kPageBytes, unknown = at;
    for (size_t page = 0; page < headers.size(); ++page) {
      const uint64_t chunk = at + page * kPageBytes;
      if (!isMappedChunk(headers[page], mapping.end - chunk))
        continue;
      addUnknown(unknown, chunk);
      const uint64_t size = headers[page].size & ~kFlags;
      parts.push_back({{chunk + kHeaderBytes, size - kHeaderBytes}, true});
      next = unknown = chunk + size;
      break;
    }
    addUnknown(unknown, next);
    at = next;
  }
  return parts;
}

std::optional<MallocBlocks::Part> MallocBlocks::inAnonymous(const Mapping& mapping,
                                                            uint64_t address) {
  const auto [known, isNew] = anonymous_.try_emplace(mapping.begin);
  if (isNew)
    known->second = scan(mapping);
  for (const Part& part : known->second)
    if (address - part.range.begin < part.range.sizeBytes)
      return part;
  return std::nullopt;
}

} // namespace mneme::record
