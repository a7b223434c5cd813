#include "runtime/replay/verify.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "runtime/core/base/error.h"
#include "runtime/devices/compare_pieces.h"
#include "runtime/replay/text.h"
#include "runtime/replay/type_guess.h"

namespace mneme::replay {

namespace {

constexpr uint64_t kHashPageBytes = artifact::kChunkBytes;
/// How much is compared on the host at once; a multiple of every element's size.
constexpr uint64_t kPieceBytes = 32 << 20;
/// How much of a region is looked at to guess its type: pieces of this size, as many as these.
constexpr uint64_t kGuessBytes = 4096;
constexpr uint64_t kGuessPieces = 16;

/// Rounds up to one significant digit: thresholds people can read. The result is the number that
/// such a text stands for ("5e-06"), which a product with a power of ten is not.
double roundUpDigit(double value) {
  if (!(value > 0) || !std::isfinite(value))
    return 0;
  char text[32];
  std::snprintf(text, sizeof text, "%.0e", value);
  if (const double rounded = std::strtod(text, nullptr); rounded >= value)
    return rounded;
  const int exponent = std::atoi(std::strchr(text, 'e') + 1);
  std::snprintf(text, sizeof text, "%de%d", (text[0] - '0') + 1, exponent);
  return std::strtod(text, nullptr);
}

/// Whether a device can compare it: it has both sides, each in its place. The rest of a region
/// begins behind an annotated part.
bool isForDevice(const device::CompareRequest& request) {
  return request.expected != 0 && request.actual % device::sizeOf(request.type) == 0;
}

} // namespace

bool isFewUlp(const Finding& finding) {
  return finding.site != kNone && finding.isTypeKnown && isFloating(finding.type) &&
         finding.request.norm == device::Norm::None && finding.distance.maxUlp > 0 &&
         finding.distance.maxUlp <= kFewUlp;
}

bool Verdict::isAccepted() const {
  return std::all_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.report.isAccepted; });
}

bool Verdict::hasStray() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.gap != kNone; });
}

bool Verdict::merge(const Finding& other) {
  const auto known = std::find_if(findings.begin(), findings.end(), [&](const Finding& mine) {
    return mine.compared == other.compared;
  });
  if (known == findings.end()) {
    findings.push_back(other);
    return false;
  }
  const device::CompareReport mine = known->distance;
  if (known->report.isAccepted)
    *known = other;
  known->distance.maxUlp = std::max(mine.maxUlp, other.distance.maxUlp);
  known->distance.maxRelative = std::max(mine.maxRelative, other.distance.maxRelative);
  known->distance.maxAbsolute = std::max(mine.maxAbsolute, other.distance.maxAbsolute);
  return true;
}

Verifier::Verifier(device::Device& device, const MemoryImage& image,
                   const std::vector<Label>& labels, ElementTypes& types,
                   const std::vector<ToleranceRule>& rules)
    : device_(device), image_(image), labels_(labels), types_(types) {
  for (const ToleranceRule& rule : rules) {
    bool isUsed = image.sites().empty();
    for (size_t i = 0; i < image.sites().size() && !isUsed; ++i)
      isUsed = isMeant(rule, image.sites()[i], labels[i]) ||
               std::ranges::any_of(image.sites()[i].region.parts, [&](const auto& part) {
                 return !rule.region.empty() && part.annotation.tag == rule.region;
               });
    if (!isUsed)
      throw Error(ErrorCode::InvalidArgument,
                  "tolerance '" + toText(rule) +
                      "' names a region that the recording does not have");
  }
  for (size_t i = 0; i < image.sites().size(); ++i)
    addSite(i, rules);
  for (size_t i = 0; i < image.gaps().size(); ++i) {
    const Gap& gap = image.gaps()[i];
    compared_.push_back(
        {.gap = i,
         .request = {.actual = gap.live, .expected = gap.prologue, .sizeBytes = gap.sizeBytes}});
  }
}

/// What is between the annotated parts is compared as the region is.
void Verifier::addSite(size_t index, const std::vector<ToleranceRule>& rules) {
  const artifact::Region& region = image_.sites()[index].region;
  uint64_t begin = 0;
  const auto addRest = [&](uint64_t end) {
    if (end > begin)
      add(index, begin, end - begin, region.annotation, false, rules);
  };
  for (const artifact::AnnotatedPart& part : region.parts) {
    addRest(part.offset);
    add(index, part.offset, part.sizeBytes, part.annotation, true, rules);
    begin = part.offset + part.sizeBytes;
  }
  addRest(region.sizeBytes);
}

void Verifier::add(size_t index, uint64_t offset, uint64_t sizeBytes,
                   const artifact::Annotation& annotation, bool isPart,
                   const std::vector<ToleranceRule>& rules) {
  const Site& site = image_.sites()[index];
  Compared& added = compared_.emplace_back();
  added.site = index;
  added.offset = offset;
  added.tag = isPart ? annotation.tag : "";
  device::CompareRequest& request = added.request;
  request = {.actual = site.live + offset,
             .expected = site.epilogue ? site.epilogue + offset : 0,
             .sizeBytes = sizeBytes};
  if (annotation.isSet) {
    if (annotation.dataType > static_cast<uint8_t>(device::DataType::F8E5M2) ||
        annotation.thresholdKind > static_cast<uint8_t>(device::ThresholdKind::Ulp) ||
        annotation.norm > static_cast<uint8_t>(device::Norm::Linf))
      throw Error(ErrorCode::ArtifactCorrupt,
                  "the recording has an unknown tolerance for " + labels_[index].text);
    added.isTyped = true;
    request.type = static_cast<device::DataType>(annotation.dataType);
    request.kind = static_cast<device::ThresholdKind>(annotation.thresholdKind);
    request.norm = static_cast<device::Norm>(annotation.norm);
    request.threshold = annotation.threshold;
  }
  for (const ToleranceRule& rule : rules)
    if (isMeant(rule, site, labels_[index]) || (!added.tag.empty() && added.tag == rule.region)) {
      added.isTyped = true;
      request.type = rule.type;
      request.kind = rule.kind;
      request.norm = rule.norm;
      request.nan = rule.nan;
      request.threshold = rule.threshold;
    }
}

Verdict Verifier::verify() {
  Verdict verdict;
  const std::vector<device::CompareReport> reports = compareAll();
  for (size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].isExact)
      continue;
    Finding finding;
    finding.request = compared_[i].request;
    finding.report = reports[i];
    finding.site = compared_[i].site;
    finding.gap = compared_[i].gap;
    finding.compared = i;
    measureDistance(finding);
    verdict.findings.push_back(finding);
  }
  return verdict;
}

std::vector<device::CompareReport> Verifier::compareAll() {
  std::vector<device::CompareRequest> onDevice;
  std::vector<size_t> indices;
  std::vector<device::CompareReport> reports(compared_.size());
  for (size_t i = 0; i < compared_.size(); ++i)
    if (isForDevice(compared_[i].request)) {
      onDevice.push_back(compared_[i].request);
      indices.push_back(i);
    } else {
      reports[i] = compareOnHost(compared_[i], compared_[i].request);
    }
  const std::vector<device::CompareReport> answers = device_.compare(onDevice);
  for (size_t i = 0; i < indices.size(); ++i)
    reports[indices[i]] = answers[i];
  return reports;
}

/// Which bytes of what is compared, in whole elements, a comparison has to look at.
std::vector<artifact::ByteRange>
Verifier::possiblyDifferent(const Compared& compared, const device::CompareRequest& request) const {
  // Hashes are those of memory before its addresses are translated.
  if (compared.site == kNone || !image_.moves().isEmpty() ||
      !device::ComparisonByPieces::mayLeaveOutEqual(request))
    return {{0, request.sizeBytes}};
  const Site& site = image_.sites()[compared.site];
  const std::vector<Hash128> expected = image_.expectedHashes(site);
  std::vector<Hash128> actual(expected.size());
  device_.hashPages(site.live, site.region.sizeBytes, kHashPageBytes, actual);
  const uint64_t elementBytes = device::sizeOf(request.type);
  std::vector<artifact::ByteRange> ranges;
  for (size_t chunk = 0; chunk < expected.size(); ++chunk) {
    const uint64_t begin = std::max(chunk * kHashPageBytes, compared.offset);
    const uint64_t end =
        std::min((chunk + 1) * kHashPageBytes, compared.offset + request.sizeBytes);
    if (expected[chunk] == actual[chunk] || begin >= end)
      continue;
    const uint64_t first = (begin - compared.offset) / elementBytes * elementBytes;
    const uint64_t last = std::min(request.sizeBytes, (end - compared.offset + elementBytes - 1) /
                                                          elementBytes * elementBytes);
    if (!ranges.empty() && ranges.back().offset + ranges.back().sizeBytes >= first)
      ranges.back().sizeBytes = last - ranges.back().offset;
    else
      ranges.push_back({first, last - first});
  }
  return ranges;
}

/// Brings both sides to the host, for memory whose expected content is not on the device: where
/// their hashes differ, and no more at once than a piece.
device::CompareReport Verifier::compareOnHost(const Compared& compared,
                                              const device::CompareRequest& request) const {
  device::ComparisonByPieces comparison(request);
  std::vector<std::byte> expected, actual;
  for (const auto& [begin, sizeBytes] : possiblyDifferent(compared, request))
    for (uint64_t done = 0; done < sizeBytes; done += kPieceBytes) {
      const uint64_t bytes = std::min(kPieceBytes, sizeBytes - done), offset = begin + done;
      expected.assign(bytes, std::byte{});
      actual.resize(bytes);
      device_.copyToHost(actual.data(), request.actual + offset, bytes);
      if (compared.site != kNone)
        image_.readExpected(image_.sites()[compared.site], compared.offset + offset, expected);
      comparison.add(offset, actual, expected);
    }
  return comparison.report();
}

/// Finds a type that is the same for every binary: from the recorded code or, if that does not show
/// it, from the recorded memory.
void Verifier::findType(Finding& finding) {
  finding.type = finding.request.type;
  if (finding.site == kNone)
    return;
  const SiteElements& elements = types_.of(finding.site);
  finding.isUnordered = elements.isUnordered;
  finding.isTypeKnown = compared_[finding.compared].isTyped || elements.isKnown;
  if (compared_[finding.compared].isTyped)
    return;
  if (elements.isKnown)
    finding.type = elements.type.value_or(device::DataType::U8);
  else
    finding.type = guessedType(finding.site);
}

device::DataType Verifier::guessedType(size_t index) const {
  const Site& site = image_.sites()[index];
  const uint64_t size = site.region.sizeBytes;
  std::vector<std::byte> sample;
  const uint64_t pieces = std::min(kGuessPieces, (size + kGuessBytes - 1) / kGuessBytes);
  for (uint64_t i = 0; i < pieces; ++i) {
    const uint64_t begin = size / pieces * i / 8 * 8;
    const uint64_t bytes = std::min(kGuessBytes, size - begin);
    const size_t at = sample.size();
    sample.resize(at + bytes);
    if (site.epilogue != 0)
      device_.copyToHost(sample.data() + at, site.epilogue + begin, bytes);
    else
      image_.readExpected(site, begin, std::span(sample).subspan(at, bytes));
  }
  return guessType(sample);
}

void Verifier::measureDistance(Finding& finding) {
  findType(finding);
  finding.distance = finding.report;
  const bool isExactRule =
      finding.request.threshold == 0 && finding.request.norm == device::Norm::None;
  const Compared& compared = compared_[finding.compared];
  if (finding.site != kNone && compared.isTyped && isExactRule)
    return;
  device::CompareRequest exact{.actual = finding.request.actual,
                               .expected = finding.request.expected,
                               .sizeBytes = finding.request.sizeBytes};
  exact.type = finding.type;
  finding.distance =
      isForDevice(exact) ? device_.compare({&exact, 1}).front() : compareOnHost(compared, exact);
}

std::vector<std::vector<Hash128>> Verifier::hashSites(const Verdict& verdict) {
  std::vector<std::vector<Hash128>> hashes(image_.sites().size());
  for (const Finding& finding : verdict.findings) {
    if (finding.site == kNone)
      continue;
    const Site& site = image_.sites()[finding.site];
    hashes[finding.site].resize((site.region.sizeBytes + kHashPageBytes - 1) / kHashPageBytes);
    device_.hashPages(site.live, site.region.sizeBytes, kHashPageBytes, hashes[finding.site]);
  }
  return hashes;
}

std::string Verifier::gapText(const Gap& gap) const {
  const std::string text = "stray write outside every recorded region, ";
  if (gap.before != kNone)
    return text + "behind " + labels_[gap.before].text;
  return text + (gap.after != kNone ? "in front of " + labels_[gap.after].text
                                    : "at " + hexText(gap.live));
}

Mismatch Verifier::describe(const Finding& finding) const {
  // Elements outside the tolerance if there are any, else elements that differ at all.
  const bool isRejected = !finding.report.isAccepted && finding.report.mismatchCount > 0 &&
                          finding.type == finding.request.type;
  const device::CompareReport& report = isRejected ? finding.report : finding.distance;
  const uint64_t size = device::sizeOf(finding.type);
  Mismatch mismatch;
  const Compared& compared = compared_[finding.compared];
  mismatch.regionOffset = compared.offset + report.firstMismatch * size;
  mismatch.element = mismatch.regionOffset / size;
  mismatch.dataType = device::nameOf(finding.type);
  mismatch.expected = device::formatElement(finding.type, report.firstExpectedBits);
  mismatch.actual = device::formatElement(finding.type, report.firstActualBits);
  mismatch.differing = isRejected ? report.mismatchCount : report.differentCount;
  mismatch.elements = (finding.request.sizeBytes + size - 1) / size;
  if (finding.site != kNone) {
    mismatch.region = labels_[finding.site].text +
                      (compared.tag.empty() ? "" : ", annotated as '" + compared.tag + "'");
    mismatch.address = image_.sites()[finding.site].region.address + mismatch.regionOffset;
  } else {
    mismatch.region = gapText(image_.gaps()[finding.gap]);
    mismatch.address = finding.request.actual + mismatch.regionOffset;
  }
  return mismatch;
}

std::string Verifier::ruleFor(const Finding& finding) const {
  const std::string& tag = compared_[finding.compared].tag;
  return tag.empty() ? labels_[finding.site].rule : tag;
}

std::string Verifier::suggest(const Finding& finding) const {
  if (finding.site == kNone || !isFloating(finding.type))
    return "";
  ToleranceRule rule{.region = ruleFor(finding), .type = finding.type};
  rule.kind = device::ThresholdKind::Relative;
  rule.threshold = roundUpDigit(4 * finding.distance.maxRelative);
  if (rule.threshold == 0 || rule.threshold > 1e-2) {
    rule.kind = device::ThresholdKind::Absolute;
    rule.threshold = roundUpDigit(4 * finding.distance.maxAbsolute);
  }
  return rule.threshold > 0 ? toText(rule) : "";
}

std::string Verifier::suggestUlp(const Finding& finding) const {
  return toText({.region = ruleFor(finding),
                 .type = finding.type,
                 .kind = device::ThresholdKind::Ulp,
                 .threshold = static_cast<double>(finding.distance.maxUlp)});
}

} // namespace mneme::replay
