#include "runtime/replay/address_map.h"

#include <algorithm>
#include <cstring>

namespace mneme::replay {

AddressMap::Table AddressMap::makeTable(std::vector<Move> moves) {
  std::erase_if(moves, [](const Move& move) { return move.sizeBytes == 0; });
  std::sort(moves.begin(), moves.end(),
            [](const Move& a, const Move& b) { return a.recorded < b.recorded; });
  std::vector<AddressRange> ranges;
  Table table;
  for (const Move& move : moves) {
    if (!ranges.empty()) // what both claim is the later one's
      ranges.back().sizeBytes =
          std::min(ranges.back().sizeBytes, move.recorded - ranges.back().begin);
    ranges.push_back({move.recorded, move.sizeBytes});
    table.targets.push_back(move.here);
  }
  table.ranges = WordRanges(std::move(ranges));
  return table;
}

AddressMap::AddressMap(const std::vector<Move>& moves) : recorded_(makeTable(moves)) {
  std::vector<Move> back;
  for (const Move& move : moves)
    back.push_back({move.here, move.sizeBytes, move.recorded});
  here_ = makeTable(std::move(back));
}

uint64_t AddressMap::Table::of(uint64_t word) const noexcept {
  const size_t index = ranges.find(word);
  return index == WordRanges::kNone ? word : word - ranges.ranges()[index].begin + targets[index];
}

size_t AddressMap::Table::apply(std::span<std::byte> bytes, uint64_t address) const noexcept {
  size_t count = 0;
  ranges.visit(bytes, address, [&](size_t offset, uint64_t word, size_t index) {
    const uint64_t target = word - ranges.ranges()[index].begin + targets[index];
    std::memcpy(bytes.data() + offset, &target, sizeof(target));
    ++count;
  });
  return count;
}

uint64_t AddressMap::toHere(uint64_t word) const noexcept { return recorded_.of(word); }
uint64_t AddressMap::toRecorded(uint64_t word) const noexcept { return here_.of(word); }

size_t AddressMap::translate(std::span<std::byte> bytes, uint64_t recordedAddress) const noexcept {
  return recorded_.apply(bytes, recordedAddress);
}

size_t AddressMap::translateBack(std::span<std::byte> bytes,
                                 uint64_t recordedAddress) const noexcept {
  return here_.apply(bytes, recordedAddress);
}

} // namespace mneme::replay
