// Room replay: compares memory after a launch with the recorded epilogue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/devices/device.h"
#include "runtime/replay/element_types.h"
#include "runtime/replay/labels.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/replay.h"

namespace mneme::replay {

/// Bytes that are compared by one rule: a region, a part of one, or a gap.
struct Compared {
  size_t site = kNone; ///< kNone: a gap
  size_t gap = kNone;
  uint64_t offset = 0; ///< in the region
  device::CompareRequest request;
  bool isTyped = false; ///< whether a rule or annotation gives the type
  std::string tag = {}; ///< of a part of a region, by which rules name it
};

/// One region, part of one, or gap that is not bit-identical to the epilogue.
struct Finding {
  size_t site = kNone; ///< kNone: a gap
  size_t gap = kNone;
  size_t compared = 0; ///< index among what is compared
  device::CompareRequest request;
  device::CompareReport report;                 ///< under the requested tolerance
  device::DataType type = device::DataType::U8; ///< from annotation, request or code, or guessed
  bool isTypeKnown = false;                     ///< not guessed
  bool isUnordered = false;       ///< whether atomics add up floating-point numbers there
  device::CompareReport distance; ///< exact, in elements of `type`
};

/// Whether only floating-point numbers differ, by a few units in the last place; their type must be
/// known for certain.
bool isFewUlp(const Finding& finding);

struct Verdict {
  std::vector<Finding> findings;
  bool isExact() const { return findings.empty(); }
  bool isAccepted() const;
  bool hasStray() const; ///< whether memory outside every region changed
  /// Merges a finding of another run of the same binary: keeps the larger distances, and a rejected
  /// finding replaces an accepted one. Returns false if this place was exact here; the finding is
  /// then added.
  bool merge(const Finding& other);
};

/// The largest distance, in units in the last place, that counts as a few.
inline constexpr uint64_t kFewUlp = 4;

/// Decides for every region how it is compared, compares, and puts findings into words. Device,
/// image, labels and types must outlive it.
class Verifier {
public:
  /// \throws Error{InvalidArgument} for a rule that matches no region of the recording.
  Verifier(device::Device& device, const MemoryImage& image, const std::vector<Label>& labels,
           ElementTypes& types, const std::vector<ToleranceRule>& rules);

  Verdict verify();

  /// Returns content hashes of every site with a finding, to compare two runs.
  std::vector<std::vector<Hash128>> hashSites(const Verdict& verdict);

  Mismatch describe(const Finding& finding) const;
  /// Returns a rule that would have accepted `finding` with some margin; empty if no tolerance can.
  std::string suggest(const Finding& finding) const;
  /// Returns the tightest rule that accepts `finding`, which isFewUlp().
  std::string suggestUlp(const Finding& finding) const;

private:
  void addSite(size_t index, const std::vector<ToleranceRule>& rules);
  void add(size_t index, uint64_t offset, uint64_t sizeBytes,
           const artifact::Annotation& annotation, bool isPart,
           const std::vector<ToleranceRule>& rules);
  std::vector<device::CompareReport> compareAll();
  device::CompareReport compareOnHost(const Compared& compared,
                                      const device::CompareRequest& request) const;
  std::vector<artifact::ByteRange> possiblyDifferent(const Compared& compared,
                                                     const device::CompareRequest& request) const;
  void measureDistance(Finding& finding);
  void findType(Finding& finding);
  device::DataType guessedType(size_t site) const;
  /// The name of a rule for these bytes.
  std::string ruleFor(const Finding& finding) const;
  std::string gapText(const Gap& gap) const;

  device::Device& device_;
  const MemoryImage& image_;
  const std::vector<Label>& labels_;
  ElementTypes& types_;
  std::vector<Compared> compared_; ///< by site, then gaps
};

} // namespace mneme::replay
