// Room replay: compares memory after a launch with the recorded epilogue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/replay/labels.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/replay.h"

namespace mneme::replay {

/// One region (or gap) that is not bit-identical to the epilogue.
struct Finding {
  size_t site = kNone; ///< kNone: a gap
  size_t gap = kNone;
  device::CompareRequest request;
  device::CompareReport report;                 ///< under the tolerance that was asked for
  device::DataType type = device::DataType::U8; ///< annotated, asked for or guessed
  device::CompareReport distance;               ///< exact, in elements of `type`
};

struct Verdict {
  std::vector<Finding> findings;
  bool isExact() const { return findings.empty(); }
  bool isAccepted() const;
  bool hasStray() const; ///< something outside every region changed
  /// Takes a finding of another run of the same binary into account: distances become the larger
  /// of both, a rejected one replaces an accepted one. False if its place was exact here; it is
  /// then added.
  bool merge(const Finding& other);
};

/// Decides for every region how it is compared, compares, and puts findings into words. Device,
/// image and labels must outlive it.
class Verifier {
public:
  /// \throws Error{InvalidArgument} for a rule that means no region of the recording.
  Verifier(device::Device& device, const MemoryImage& image, const std::vector<Label>& labels,
           const std::vector<ToleranceRule>& rules);

  Verdict verify();

  /// Content hashes of every site with a finding, to tell two runs apart.
  std::vector<std::vector<Hash128>> hashSites(const Verdict& verdict);

  Mismatch describe(const Finding& finding) const;
  /// A rule that would have accepted `finding` with some room; empty if no tolerance can.
  std::string suggest(const Finding& finding) const;

private:
  device::CompareRequest requestFor(const Site& site, const Label& label,
                                    const std::vector<ToleranceRule>& rules);
  std::vector<device::CompareReport>
  compareAll(const std::vector<device::CompareRequest>& requests);
  device::CompareReport compareOnHost(size_t index, device::CompareRequest request) const;
  void measureDistance(Finding& finding);
  std::string gapText(const Gap& gap) const;

  device::Device& device_;
  const MemoryImage& image_;
  const std::vector<Label>& labels_;
  std::vector<device::CompareRequest> requests_; ///< sites, then gaps
  std::vector<bool> isTyped_;                    ///< per site: a rule or annotation says the type
};

} // namespace mneme::replay
