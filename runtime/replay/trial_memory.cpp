#include "runtime/replay/trial_memory.h"

#include <algorithm>

#include "runtime/core/base/error.h"
#include "runtime/replay/text.h"

namespace mneme::replay {

namespace {

constexpr uint64_t kChunk = artifact::kChunkBytes;
/// How often a pattern lies in its buffer on the device: copies are this many chunks long.
constexpr uint64_t kCopies = 16;
constexpr uint8_t kMayBeWritten = 1, kMayBeUntouched = 2;

uint64_t chunksIn(uint64_t sizeBytes) { return (sizeBytes + kChunk - 1) / kChunk; }

std::vector<std::byte> makePattern(Pattern pattern) {
  std::vector<std::byte> bytes(kChunk);
  uint64_t state = 0x9E3779B97F4A7C15;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (pattern == Pattern::Small) {
      bytes[i] = std::byte(i % 4 == 0 ? 1 : 0);
    } else if (pattern == Pattern::Large) {
      state = state * 6364136223846793005 + 1442695040888963407;
      const uint64_t noise = state >> 57;
      // By the place of the byte in a double: floating-point numbers of any size are between -2
      // and -130,000, integers negative and far off, pointers none.
      constexpr uint8_t kFirst[8] = {0x80, 0xC0, 0x80, 0xC0, 0x80, 0xC0, 0x80, 0xC0};
      constexpr uint8_t kNoise[8] = {0x7F, 0x07, 0x7F, 0x03, 0x7F, 0x07, 0x7F, 0x00};
      bytes[i] = std::byte(kFirst[i % 8] | (noise & kNoise[i % 8]));
    }
  return bytes;
}

} // namespace

TrialMemory::TrialMemory(device::Device& device, MemoryImage& image)
    : device_(device), image_(image) {
  patterns_ = DeviceBuffer::allocate(device_, kPatterns * kCopies * kChunk);
  for (size_t i = 0; i < kPatterns; ++i) {
    patternBytes_[i] = makePattern(Pattern(i));
    for (uint64_t copy = 0; copy < kCopies; ++copy)
      device_.copyToDevice(patterns_.address() + (i * kCopies + copy) * kChunk,
                           patternBytes_[i].data(), kChunk);
  }
  for (size_t i = 0; i < image_.sites().size(); ++i) {
    const Site& site = image_.sites()[i];
    addUnit({site.region.address, site.live, site.region.sizeBytes, i});
  }
  for (const Gap& gap : image_.gaps())
    addUnit({.live = gap.live, .sizeBytes = gap.sizeBytes});
  image_.restoreAll();
  for (Unit& unit : units_) {
    unit.before = hashesOf(unit);
    unit.present.assign(unit.before.size(), Content::Recorded);
  }
}

void TrialMemory::addUnit(Unit unit) {
  const uint64_t chunks = chunksIn(unit.sizeBytes);
  unit.present.assign(chunks, Content::Unknown);
  unit.wanted.assign(chunks, Content::Recorded);
  units_.push_back(std::move(unit));
}

std::vector<Hash128> TrialMemory::hashesOf(const Unit& unit) {
  std::vector<Hash128> hashes(chunksIn(unit.sizeBytes));
  device_.hashPages(unit.live, unit.sizeBytes, kChunk, hashes);
  return hashes;
}

void TrialMemory::distrust() noexcept {
  for (Unit& unit : units_)
    std::fill(unit.present.begin(), unit.present.end(), Content::Unknown);
}

void TrialMemory::prepare(std::span<const Fill> fills) {
  parts_.clear();
  for (Unit& unit : units_)
    std::fill(unit.wanted.begin(), unit.wanted.end(), Content::Recorded);
  for (const Fill& fill : fills)
    want(fill);
  restoreRecorded();
  lay();
}

void TrialMemory::want(const Fill& fill) {
  uint64_t rest = fill.sizeBytes;
  // Sites come first, ordered by address.
  const auto end = units_.begin() + static_cast<ptrdiff_t>(image_.sites().size());
  auto unit =
      std::upper_bound(units_.begin(), end, fill.address, [](uint64_t address, const Unit& one) {
        return address < one.recorded + one.sizeBytes;
      });
  if (unit == end || rest == 0 || fill.address < unit->recorded ||
      rest > unit->recorded + unit->sizeBytes - fill.address)
    throw Error(ErrorCode::InvalidArgument, "the bytes at " + hexText(fill.address) +
                                                " are not in one region of the recording");
  wantIn(static_cast<size_t>(unit - units_.begin()), fill);
}

void TrialMemory::wantIn(size_t index, const Fill& fill) {
  Unit& unit = units_[index];
  const uint64_t begin = fill.address - unit.recorded, end = begin + fill.sizeBytes;
  for (uint64_t chunk = begin / kChunk; chunk * kChunk < end; ++chunk) {
    const uint64_t first = chunk * kChunk, last = std::min(first + kChunk, unit.sizeBytes);
    if (begin <= first && end >= last) {
      unit.wanted[chunk] = Content(fill.pattern);
      continue;
    }
    unit.wanted[chunk] = Content::Parts;
    parts_[{index, chunk}].push_back(
        {std::max(begin, first) - first, std::min(end, last) - first, fill.pattern});
  }
}

/// Where recorded content belongs, or some of it.
void TrialMemory::restoreRecorded() {
  std::vector<SiteRange> ranges;
  std::vector<device::CopyRange> zeros;
  for (Unit& unit : units_)
    for (uint64_t chunk = 0; chunk < unit.wanted.size(); ++chunk) {
      const Content wanted = unit.wanted[chunk];
      const bool isRecorded = wanted == Content::Recorded || wanted == Content::Parts;
      if (!isRecorded || unit.present[chunk] == Content::Recorded)
        continue;
      const uint64_t offset = chunk * kChunk;
      const uint64_t size = std::min(kChunk, unit.sizeBytes - offset);
      unit.present[chunk] = Content::Recorded;
      if (unit.site == kNone)
        zeros.push_back({unit.live + offset, patterns_.address(), size});
      else if (!ranges.empty() && ranges.back().site == unit.site &&
               ranges.back().offset + ranges.back().sizeBytes == offset)
        ranges.back().sizeBytes += size;
      else
        ranges.push_back({unit.site, offset, size});
    }
  image_.restoreRanges(ranges);
  device_.restore(zeros);
}

/// Fills what is to be filled.
void TrialMemory::lay() {
  std::vector<device::CopyRange> copies;
  const auto add = [&](uint64_t destination, Pattern pattern, uint64_t inChunk, uint64_t size) {
    const uint64_t base = patterns_.address() + size_t(pattern) * kCopies * kChunk;
    device::CopyRange* last = copies.empty() ? nullptr : &copies.back();
    const bool continues = last != nullptr && inChunk == 0 && last->source >= base &&
                           last->destination + last->sizeBytes == destination &&
                           (last->source + last->sizeBytes - base) % kChunk == 0 &&
                           last->source + last->sizeBytes + size <= base + kCopies * kChunk;
    if (continues)
      last->sizeBytes += size;
    else
      copies.push_back({destination, base + inChunk, size});
  };
  for (size_t index = 0; index < units_.size(); ++index) {
    Unit& unit = units_[index];
    for (uint64_t chunk = 0; chunk < unit.wanted.size(); ++chunk) {
      const Content wanted = unit.wanted[chunk];
      if (wanted == Content::Recorded || wanted == unit.present[chunk])
        continue;
      const uint64_t offset = chunk * kChunk;
      if (wanted == Content::Parts)
        for (const Part& part : parts_.at({index, chunk}))
          add(unit.live + offset + part.begin, part.pattern, part.begin, part.end - part.begin);
      else
        add(unit.live + offset, Pattern(wanted), 0, std::min(kChunk, unit.sizeBytes - offset));
      unit.present[chunk] = wanted;
    }
  }
  device_.restore(copies);
}

void TrialMemory::takeReference(bool keepsBytes) {
  kept_.clear();
  knownMixtures_.clear();
  for (size_t index = 0; index < units_.size(); ++index) {
    Unit& unit = units_[index];
    unit.after = hashesOf(unit);
    for (uint64_t chunk = 0; chunk < unit.after.size(); ++chunk) {
      if (unit.after[chunk] == unit.before[chunk])
        continue;
      unit.present[chunk] = Content::Unknown;
      if (!keepsBytes)
        continue;
      std::vector<std::byte>& bytes = kept_[{index, chunk}];
      bytes.resize(std::min(kChunk, unit.sizeBytes - chunk * kChunk));
      device_.copyToHost(bytes.data(), unit.live + chunk * kChunk, bytes.size());
    }
  }
}

bool TrialMemory::isReference() {
  bool isSame = true;
  for (Unit& unit : units_) {
    const std::vector<Hash128> hashes = hashesOf(unit);
    isSame = isSame && hashes == unit.after;
    for (uint64_t chunk = 0; chunk < hashes.size(); ++chunk)
      if (hashes[chunk] != unit.before[chunk])
        unit.present[chunk] = Content::Unknown;
  }
  return isSame;
}

std::optional<std::string> TrialMemory::difference(std::optional<Pattern> noted) {
  std::optional<std::string> found;
  noted_ = noted;
  if (noted) {
    masks_[size_t(*noted)].clear();
    for (Unit& unit : units_)
      unit.fates[size_t(*noted)].assign(unit.wanted.size(), Fate::NotFilled);
  }
  for (size_t index = 0; index < units_.size(); ++index) {
    Unit& unit = units_[index];
    const std::vector<Hash128> hashes = hashesOf(unit);
    for (uint64_t chunk = 0; chunk < hashes.size(); ++chunk) {
      if (found) // not looked at
        unit.present[chunk] = Content::Unknown;
      else if (!judgeChunk(index, chunk, hashes[chunk]))
        found = placeText(unit, chunk);
    }
  }
  return found;
}

/// Whether the chunk is as it must be; notes what it contains now.
bool TrialMemory::judgeChunk(size_t index, uint64_t chunk, const Hash128& hash) {
  Unit& unit = units_[index];
  const Content wanted = unit.wanted[chunk];
  const uint64_t size = std::min(kChunk, unit.sizeBytes - chunk * kChunk);
  if (wanted == Content::Recorded) {
    unit.present[chunk] = hash == unit.before[chunk] ? Content::Recorded : Content::Unknown;
    return hash == unit.after[chunk];
  }
  const bool isWhole = wanted != Content::Parts;
  if (isWhole && isPattern(hash, wanted, size)) {
    unit.present[chunk] = wanted;
    note(index, chunk, Fate::Untouched);
    return true;
  }
  unit.present[chunk] = Content::Unknown;
  if (!isWhole || hash != unit.after[chunk])
    return isMixtureRight(index, chunk, hash);
  note(index, chunk, Fate::Written);
  return true;
}

/// Whether bytes of a chunk have the pattern that is noted.
bool TrialMemory::isNoted(size_t index, uint64_t chunk) const {
  if (!noted_)
    return false;
  const Content wanted = units_[index].wanted[chunk];
  if (wanted != Content::Parts)
    return wanted == Content(*noted_);
  return std::ranges::any_of(parts_.at({index, chunk}),
                             [&](const Part& part) { return part.pattern == *noted_; });
}

void TrialMemory::note(size_t index, uint64_t chunk, Fate fate) {
  if (isNoted(index, chunk))
    units_[index].fates[size_t(*noted_)][chunk] = fate;
}

bool TrialMemory::isPattern(const Hash128& hash, Content content, uint64_t sizeBytes) {
  const auto [known, isNew] = patternHashes_.try_emplace({uint8_t(content), sizeBytes});
  if (isNew)
    known->second = hash128(patternBytes(Pattern(content), sizeBytes));
  return hash == known->second;
}

std::span<const std::byte> TrialMemory::patternBytes(Pattern pattern, uint64_t sizeBytes) const {
  return std::span(patternBytes_[size_t(pattern)]).first(sizeBytes);
}

std::vector<TrialMemory::Part> TrialMemory::partsOf(size_t index, uint64_t chunk) const {
  const Unit& unit = units_[index];
  if (unit.wanted[chunk] == Content::Parts)
    return parts_.at({index, chunk});
  return {{0, std::min(kChunk, unit.sizeBytes - chunk * kChunk), Pattern(unit.wanted[chunk])}};
}

std::vector<std::byte> TrialMemory::referenceBytes(size_t index, uint64_t chunk) const {
  const Unit& unit = units_[index];
  if (const auto kept = kept_.find({index, chunk}); kept != kept_.end())
    return kept->second;
  const uint64_t offset = chunk * kChunk;
  std::vector<std::byte> bytes(std::min(kChunk, unit.sizeBytes - offset));
  if (unit.site == kNone)
    return bytes;
  const Site& site = image_.sites()[unit.site];
  if (unit.after[chunk] == unit.before[chunk])
    image_.readRecorded(site, offset, bytes);
  else
    image_.readExpected(site, offset, bytes);
  return bytes;
}

/// Whether each byte of a filled chunk is the reference's or still its filling.
bool TrialMemory::isMixtureRight(size_t index, uint64_t chunk, const Hash128& hash) {
  const Unit& unit = units_[index];
  const std::vector<Part> parts = partsOf(index, chunk);
  uint64_t key = combineHashes(index, chunk);
  for (const Part& part : parts)
    key = combineHashes(combineHashes(key, part.begin), part.end * 4 + uint64_t(part.pattern));
  const auto known = knownMixtures_.find(key);
  const bool isToNote = isNoted(index, chunk);
  if (known != knownMixtures_.end() && !isToNote)
    return known->second == hash;
  std::vector<std::byte> expected = referenceBytes(index, chunk);
  std::vector<std::byte> actual(expected.size());
  device_.copyToHost(actual.data(), unit.live + chunk * kChunk, actual.size());
  std::vector<uint8_t> mask(isToNote ? expected.size() : 0, kMayBeWritten);
  for (const Part& part : parts) {
    const auto pattern = patternBytes(part.pattern, expected.size());
    for (uint64_t i = part.begin; i < part.end; ++i) {
      if (isToNote && part.pattern != *noted_)
        mask[i] = kMayBeWritten | kMayBeUntouched;
      else if (isToNote)
        mask[i] = (actual[i] == expected[i] ? kMayBeWritten : 0) |
                  (actual[i] == pattern[i] ? kMayBeUntouched : 0);
      if (actual[i] == pattern[i])
        expected[i] = pattern[i];
    }
  }
  if (actual != expected)
    return false;
  knownMixtures_.insert_or_assign(key, hash);
  note(index, chunk, Fate::Mixed);
  if (isToNote)
    masks_[size_t(*noted_)][{index, chunk}] = std::move(mask);
  return true;
}

/// By byte, what a launch with this pattern may have done to a filled chunk: a byte may have the
/// same value either way.
std::vector<uint8_t> TrialMemory::possibleFates(size_t index, uint64_t chunk,
                                                Pattern pattern) const {
  const Fate fate = units_[index].fates[size_t(pattern)].at(chunk);
  if (fate == Fate::Mixed)
    return masks_[size_t(pattern)].at({index, chunk});
  const std::vector<std::byte> reference = referenceBytes(index, chunk);
  const auto filling = patternBytes(pattern, reference.size());
  std::vector<uint8_t> mask(reference.size(),
                            fate == Fate::Untouched ? kMayBeUntouched : kMayBeWritten);
  for (size_t i = 0; i < mask.size(); ++i)
    if (reference[i] == filling[i])
      mask[i] = kMayBeWritten | kMayBeUntouched;
  return mask;
}

/// Finds what both launches may have done to each byte. Returns false if there is a byte with which
/// they did not do the same.
bool TrialMemory::findFates(size_t index, uint64_t chunk, std::vector<uint8_t>& mask) const {
  mask = possibleFates(index, chunk, Pattern::Small);
  const std::vector<uint8_t> other = possibleFates(index, chunk, Pattern::Large);
  bool isSame = true;
  for (size_t i = 0; i < mask.size(); ++i) {
    mask[i] &= other[i];
    isSame = isSame && mask[i] != 0;
  }
  return isSame;
}

bool TrialMemory::doNotesAgree() const {
  std::vector<uint8_t> mask;
  for (size_t index = 0; index < units_.size(); ++index) {
    const std::vector<Fate>& small = units_[index].fates[size_t(Pattern::Small)];
    const std::vector<Fate>& large = units_[index].fates[size_t(Pattern::Large)];
    for (uint64_t chunk = 0; chunk < std::min(small.size(), large.size()); ++chunk) {
      const bool isNotedTwice = small[chunk] != Fate::NotFilled && large[chunk] != Fate::NotFilled;
      const bool isSimple = small[chunk] == large[chunk] && small[chunk] != Fate::Mixed;
      if (isNotedTwice && !isSimple && !findFates(index, chunk, mask))
        return false;
    }
  }
  return true;
}

std::vector<uint8_t> TrialMemory::writtenBytes(size_t site, uint64_t chunk) const {
  const Unit& unit = units_[site];
  const Fate small = unit.fates[size_t(Pattern::Small)].at(chunk);
  const Fate large = unit.fates[size_t(Pattern::Large)].at(chunk);
  if (small == Fate::Untouched && large == Fate::Untouched)
    return {};
  const uint64_t size = std::min(kChunk, unit.sizeBytes - chunk * kChunk);
  if (small == Fate::Written && large == Fate::Written)
    return std::vector<uint8_t>(size, 1);
  std::vector<uint8_t> mask;
  if (!findFates(site, chunk, mask))
    throw Error(ErrorCode::DeviceFailed,
                "the kernel writes other bytes when it finds other content in memory that it does "
                "not read, at " +
                    hexText(unit.recorded + chunk * kChunk));
  bool isAnyWritten = false;
  for (uint8_t& fate : mask) {
    fate = fate == kMayBeUntouched ? 0 : 1;
    isAnyWritten = isAnyWritten || fate != 0;
  }
  return isAnyWritten ? mask : std::vector<uint8_t>();
}

std::string TrialMemory::placeText(const Unit& unit, uint64_t chunk) const {
  if (unit.site == kNone)
    return "memory outside of all regions";
  return "memory at " + hexText(unit.recorded + chunk * kChunk);
}

bool TrialMemory::isUntouched(size_t site, uint64_t chunk) const {
  const auto is = [&](Pattern pattern) {
    const std::vector<Fate>& fates = units_[site].fates[size_t(pattern)];
    return chunk < fates.size() && fates[chunk] == Fate::Untouched;
  };
  return is(Pattern::Small) && is(Pattern::Large);
}

uint64_t TrialMemory::untouchedBytes() const {
  uint64_t bytes = 0;
  for (size_t index = 0; index < image_.sites().size(); ++index) {
    const Unit& unit = units_[index];
    const std::vector<Fate>& small = unit.fates[size_t(Pattern::Small)];
    for (uint64_t chunk = 0; chunk < small.size(); ++chunk) {
      if (small[chunk] == Fate::NotFilled)
        continue;
      const std::vector<uint8_t> written = writtenBytes(index, chunk);
      bytes += written.empty() ? std::min(kChunk, unit.sizeBytes - chunk * kChunk)
                               : std::count(written.begin(), written.end(), 0);
    }
  }
  return bytes;
}

bool TrialMemory::isChanged(size_t site, uint64_t chunk) const {
  return units_[site].after[chunk] != units_[site].before[chunk];
}

const std::vector<std::byte>* TrialMemory::keptBytes(size_t site, uint64_t chunk) const {
  const auto kept = kept_.find({site, chunk});
  return kept == kept_.end() ? nullptr : &kept->second;
}

uint64_t TrialMemory::changedBytes() const {
  uint64_t bytes = 0;
  for (const Unit& unit : units_)
    for (uint64_t chunk = 0; chunk < unit.after.size(); ++chunk)
      if (unit.after[chunk] != unit.before[chunk])
        bytes += std::min(kChunk, unit.sizeBytes - chunk * kChunk);
  return bytes;
}

} // namespace mneme::replay
