#include "runtime/recorder/pageable_memory.h"

#include <algorithm>

#include "runtime/recorder/program_frames.h"

namespace mneme::record {
namespace {

/// Memory whose bounds are those of a mapping is recorded up to this.
constexpr uint64_t kMostOfMapping = 1ull << 30;
/// Ranges to search for are rounded to it, so that they seldom change.
constexpr uint64_t kRangeUnit = 64 << 20;
constexpr std::string_view kHeap = "[heap]";
constexpr uint64_t kArenaUnit = 64 << 20; ///< heaps of threads begin at multiples

/// Memory of drivers, and what the system maps, belongs to no program.
bool isOfProgram(const Mapping& mapping) {
  const std::string& name = mapping.name;
  const bool isDevice =
      name.starts_with("/dev/") && !name.starts_with("/dev/shm/") && !name.starts_with("/dev/zero");
  const bool isOfSystem =
      name.starts_with("[") && name != kHeap && name != "[stack]" && !mapping.isAnonymous();
  return mapping.isReadable && !isDevice && !isOfSystem && !name.starts_with("anon_inode:");
}

bool isTaken(const Mapping& mapping) {
  return mapping.isReadable && mapping.isWritable && !mapping.isShared;
}

/// One block may lie in several mappings: advice about some of its pages divides them, and the heap
/// grows in several.
std::vector<Mapping> joined(std::vector<Mapping> mappings) {
  std::vector<Mapping> result;
  for (Mapping& mapping : mappings) {
    Mapping* const before = result.empty() ? nullptr : &result.back();
    const bool isAlike =
        before &&
        ((before->isAnonymous() && mapping.isAnonymous() && mapping.begin % kArenaUnit != 0) ||
         (before->name == kHeap && mapping.name == kHeap));
    if (isAlike && before->end == mapping.begin && isTaken(*before) && isTaken(mapping))
      before->end = mapping.end;
    else
      result.push_back(std::move(mapping));
  }
  return result;
}

} // namespace

void PageableMemory::look() {
  ++looks_;
  found_.clear();
  frames_.reset();
  stack_ = {};
  mappings_.clear();
  refusal_ = hostReadRefusal();
  if (refusal_ != 0)
    return;
  variables_.look();
  mappings_ = joined(hostMappings());
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (const Mapping* const mapping = mappingAt(mappings_, here))
    stack_ = {mapping->begin, mapping->end - mapping->begin};
  blocks_.look(mappings_);
  // Before the recorder takes blocks that are free.
  const auto heap = std::ranges::find(mappings_, kHeap, &Mapping::name);
  if (heap != mappings_.end())
    blocks_.inHeap(*heap, heap->begin);
}

std::vector<AddressRange> PageableMemory::ranges() const {
  std::vector<AddressRange> ranges;
  for (const Mapping& mapping : mappings_) {
    if (!isOfProgram(mapping) || !mapping.isWritable)
      continue;
    const uint64_t begin = mapping.begin / kRangeUnit * kRangeUnit;
    const uint64_t end = (mapping.end + kRangeUnit - 1) / kRangeUnit * kRangeUnit;
    if (!ranges.empty() && begin <= ranges.back().begin + ranges.back().sizeBytes)
      ranges.back().sizeBytes = std::max(end - ranges.back().begin, ranges.back().sizeBytes);
    else
      ranges.push_back({begin, end - begin});
  }
  return ranges;
}

std::optional<PageableMemory::Piece> PageableMemory::find(uint64_t address, Given given) {
  const auto piece = pieceAt(address, given);
  if (piece)
    found_.insert(piece->range.begin);
  return piece;
}

std::optional<AddressRange> PageableMemory::frameAt(uint64_t address) {
  if (!frames_)
    frames_ = programFrames(stack_.begin + stack_.sizeBytes);
  const auto next = std::ranges::upper_bound(*frames_, address);
  if (next == frames_->begin() || next == frames_->end())
    return std::nullopt;
  return AddressRange{*std::prev(next), *next - *std::prev(next)};
}

std::optional<PageableMemory::Piece> PageableMemory::pieceAt(uint64_t address, Given given) {
  const auto exactly = [](const std::optional<AddressRange>& range) {
    return range ? std::optional(Piece{*range, true}) : std::nullopt;
  };
  const Mapping* mapping = mappingAt(mappings_, address);
  if (!mapping || !isOfProgram(*mapping))
    return std::nullopt;
  if (variables_.covers(address))
    return given == Given::AsArgument || (variables_.isOfProgram(address) && mapping->isWritable)
               ? exactly(variables_.find(address))
               : std::nullopt;
  // The system and the recorder have the rest of a stack.
  if (mapping->begin == stack_.begin)
    return exactly(frameAt(address));
  if (mapping->name == "[stack]")
    return std::nullopt;
  if (mapping->name == kHeap)
    return exactly(blocks_.inHeap(*mapping, address));
  if (const auto block = blockAt(*mapping, address))
    return block;
  return given == Given::AsArgument ? mappedAt(*mapping, address) : std::nullopt;
}

std::optional<PageableMemory::Piece> PageableMemory::blockAt(const Mapping& mapping,
                                                             uint64_t address) {
  if (!mapping.isAnonymous() || !isTaken(mapping))
    return std::nullopt;
  if (blocks_.isArena(mapping)) {
    const auto block = blocks_.inArena(mapping, address);
    return block ? std::optional(Piece{*block, true}) : std::nullopt;
  }
  const auto part = blocks_.inAnonymous(mapping, address);
  return part && part->isBlock ? std::optional(Piece{part->range, true}) : std::nullopt;
}

/// Stacks of other threads, whose frames come and go, are behind pages that nobody may use.
bool PageableMemory::isBehindGuard(const Mapping& mapping) const noexcept {
  const Mapping* before = mappingAt(mappings_, mapping.begin - 1);
  return before && !before->isReadable;
}

std::optional<PageableMemory::Piece> PageableMemory::mappedAt(const Mapping& mapping,
                                                              uint64_t address) {
  AddressRange range{mapping.begin, mapping.end - mapping.begin};
  const bool isExact = !mapping.isAnonymous();
  if (!isExact) {
    const auto part = blocks_.inAnonymous(mapping, address);
    if (!part || part->isBlock || blocks_.isArena(mapping) || isBehindGuard(mapping))
      return std::nullopt;
    range = variables_.outside(part->range, address);
  }
  const bool isRecorded = range.sizeBytes > 0 && range.sizeBytes <= kMostOfMapping;
  return isRecorded ? std::optional(Piece{range, isExact}) : std::nullopt;
}

} // namespace mneme::record
