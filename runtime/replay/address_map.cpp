#include "runtime/replay/address_map.h"

#include <algorithm>
#include <cstring>

namespace mneme::replay {

AddressMap::AddressMap(std::vector<Move> moves) {
  std::erase_if(moves, [](const Move& move) { return move.sizeBytes == 0; });
  std::sort(moves.begin(), moves.end(),
            [](const Move& a, const Move& b) { return a.recorded < b.recorded; });
  std::vector<AddressRange> ranges;
  for (const Move& move : moves) {
    if (!ranges.empty()) // what both claim is the later one's
      ranges.back().sizeBytes =
          std::min(ranges.back().sizeBytes, move.recorded - ranges.back().begin);
    ranges.push_back({move.recorded, move.sizeBytes});
    here_.push_back(move.here);
  }
  recorded_ = WordRanges(std::move(ranges));
}

size_t AddressMap::translate(std::span<std::byte> bytes, uint64_t recordedAddress) const noexcept {
  size_t count = 0;
  recorded_.visit(bytes, recordedAddress, [&](size_t offset, uint64_t word, size_t index) {
    const uint64_t target = word - recorded_.ranges()[index].begin + here_[index];
    std::memcpy(bytes.data() + offset, &target, sizeof(target));
    ++count;
  });
  return count;
}

} // namespace mneme::replay
