// Room replay: recorded memory with other content in places, to find out what a launch reads.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/devices/device.h"
#include "runtime/replay/device_buffer.h"
#include "runtime/replay/memory_image.h"

namespace mneme::replay {

/// Content in place of what was recorded. Small has numbers that are valid indices and counts, so
/// that a kernel that uses them seldom fails, and that vanish in sums of floating-point numbers;
/// Large has numbers that are none of that. At each byte they differ.
enum class Pattern : uint8_t { Zero, Small, Large };
inline constexpr size_t kPatterns = 3;

/// Bytes that get other content.
struct Fill {
  uint64_t address = 0; ///< as recorded
  uint64_t sizeBytes = 0;
  Pattern pattern = Pattern::Zero;
};

/// Memory of a session between launches that differ in what they find. Device and image must
/// outlive it, and the image's globals must not move any more.
///
/// It keeps hashes of all chunks, not their content, and restores only what the last launch left
/// otherwise, so that a trial costs little more than reading the memory once.
class TrialMemory {
public:
  TrialMemory(device::Device& device, MemoryImage& image);

  /// Brings recorded content everywhere, and other content where `fills` say so.
  /// \param fills ascending, without overlaps
  /// \throws Error{InvalidArgument} for a fill outside of all regions
  void prepare(std::span<const Fill> fills);

  /// Takes what a launch on prepared memory without fills has left for what all others must leave.
  /// \param keepsBytes whether to keep the bytes that changed, because the recording lacks them
  void takeReference(bool keepsBytes);
  /// Whether a launch has left the same as the one before takeReference().
  bool isReference();

  /// Compares what a launch has left with the reference. Bytes that were filled may also have their
  /// filling still. Returns where it differs, or nothing.
  /// \param noted  Small or Large: note which bytes with this pattern were written
  std::optional<std::string> difference(std::optional<Pattern> noted = {});

  /// Says that memory may contain anything, as after a launch that failed.
  void distrust() noexcept;

  /// Whether the reference launch changed this chunk of a site.
  bool isChanged(size_t site, uint64_t chunk) const;
  /// Whether the reference launch left something there that differs from the recorded epilogue, or
  /// the region is not in it; then takeReference() has kept the bytes.
  const std::vector<std::byte>* keptBytes(size_t site, uint64_t chunk) const;

  /// Whether the launches noted for Small and for Large wrote the same bytes. One that adds to what
  /// it finds can leave the sum that it must leave, and with the other pattern that pattern.
  bool doNotesAgree() const;

  /// What these launches did to the filled bytes of a chunk: 1 for each byte that they wrote or
  /// that was not filled, 0 for one that they left; empty if they left all.
  /// \throws Error{DeviceFailed} if they disagree
  std::vector<uint8_t> writtenBytes(size_t site, uint64_t chunk) const;

  /// Whether the whole chunk was filled in these launches, and left.
  bool isUntouched(size_t site, uint64_t chunk) const;

  /// Bytes that were filled in these launches, and left. \throws as writtenBytes()
  uint64_t untouchedBytes() const;

  /// Bytes that the reference launch changed, in whole chunks.
  uint64_t changedBytes() const;

private:
  /// What a chunk contains, or is to contain.
  enum class Content : uint8_t { Zero, Small, Large, Recorded, Parts, Unknown };
  /// What a launch did to the filled bytes of a chunk.
  enum class Fate : uint8_t { NotFilled, Untouched, Written, Mixed };
  /// A site or a gap.
  struct Unit {
    uint64_t recorded = 0; ///< 0: a gap
    uint64_t live = 0;
    uint64_t sizeBytes = 0;
    size_t site = kNone;
    std::vector<Hash128> before = {}, after = {};
    std::vector<Content> wanted = {}, present = {};
    std::array<std::vector<Fate>, kPatterns> fates = {};
  };
  using ChunkKey = std::pair<size_t, uint64_t>; ///< unit, chunk
  struct Part {
    uint64_t begin = 0, end = 0; ///< in the chunk
    Pattern pattern = Pattern::Zero;
  };

  void addUnit(Unit unit);
  void want(const Fill& fill);
  void wantIn(size_t index, const Fill& fill);
  void restoreRecorded();
  void lay();
  std::vector<Hash128> hashesOf(const Unit& unit);
  std::vector<std::byte> referenceBytes(size_t unit, uint64_t chunk) const;
  std::span<const std::byte> patternBytes(Pattern pattern, uint64_t sizeBytes) const;
  bool isPattern(const Hash128& hash, Content content, uint64_t sizeBytes);
  std::vector<Part> partsOf(size_t unit, uint64_t chunk) const;
  bool isMixtureRight(size_t unit, uint64_t chunk, const Hash128& hash);
  bool judgeChunk(size_t unit, uint64_t chunk, const Hash128& hash);
  std::string placeText(const Unit& unit, uint64_t chunk) const;
  void note(size_t unit, uint64_t chunk, Fate fate);
  bool isNoted(size_t unit, uint64_t chunk) const;
  bool findFates(size_t unit, uint64_t chunk, std::vector<uint8_t>& mask) const;
  std::vector<uint8_t> possibleFates(size_t unit, uint64_t chunk, Pattern pattern) const;

  device::Device& device_;
  MemoryImage& image_;
  std::vector<Unit> units_; ///< by site, then gaps
  DeviceBuffer patterns_;
  std::array<std::vector<std::byte>, kPatterns> patternBytes_;
  std::map<std::pair<uint8_t, uint64_t>, Hash128> patternHashes_; ///< by pattern and size
  std::map<ChunkKey, std::vector<Part>> parts_;                   ///< of chunks filled in part
  std::map<ChunkKey, std::vector<std::byte>> kept_;
  std::optional<Pattern> noted_; ///< while difference() notes
  /// Of mixed chunks, by byte: 1 if it may be written, 2 if it may be untouched.
  std::array<std::map<ChunkKey, std::vector<uint8_t>>, kPatterns> masks_;
  std::unordered_map<uint64_t, Hash128> knownMixtures_; ///< by chunk and what it was filled with
};

} // namespace mneme::replay
