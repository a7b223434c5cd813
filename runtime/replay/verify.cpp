#include "runtime/replay/verify.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/core/base/error.h"
#include "runtime/replay/text.h"
#include "runtime/replay/type_guess.h"

namespace mneme::replay {

namespace {

constexpr uint64_t kHashPageBytes = 64 * 1024;
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
    return mine.site == other.site && mine.gap == other.gap;
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
    : device_(device), image_(image), labels_(labels), types_(types),
      isTyped_(image.sites().size()) {
  for (const ToleranceRule& rule : rules) {
    bool isUsed = image.sites().empty();
    for (size_t i = 0; i < image.sites().size() && !isUsed; ++i)
      isUsed = isMeant(rule, image.sites()[i], labels[i]);
    if (!isUsed)
      throw Error(ErrorCode::InvalidArgument,
                  "tolerance '" + toText(rule) +
                      "' names a region that the recording does not have");
  }
  for (size_t i = 0; i < image.sites().size(); ++i)
    requests_.push_back(requestFor(image.sites()[i], labels[i], rules));
  for (const Gap& gap : image.gaps())
    requests_.push_back({.actual = gap.live, .expected = gap.prologue, .sizeBytes = gap.sizeBytes});
}

device::CompareRequest Verifier::requestFor(const Site& site, const Label& label,
                                            const std::vector<ToleranceRule>& rules) {
  device::CompareRequest request{
      .actual = site.live, .expected = site.epilogue, .sizeBytes = site.region.sizeBytes};
  const artifact::Annotation& annotation = site.region.annotation;
  const size_t index = &site - image_.sites().data();
  if (annotation.isSet) {
    if (annotation.dataType > static_cast<uint8_t>(device::DataType::F8E5M2) ||
        annotation.thresholdKind > static_cast<uint8_t>(device::ThresholdKind::Ulp) ||
        annotation.norm > static_cast<uint8_t>(device::Norm::Linf))
      throw Error(ErrorCode::ArtifactCorrupt,
                  "the recording has an unknown tolerance for " + label.text);
    isTyped_[index] = true;
    request.type = static_cast<device::DataType>(annotation.dataType);
    request.kind = static_cast<device::ThresholdKind>(annotation.thresholdKind);
    request.norm = static_cast<device::Norm>(annotation.norm);
    request.threshold = annotation.threshold;
  }
  for (const ToleranceRule& rule : rules)
    if (isMeant(rule, site, label)) {
      isTyped_[index] = true;
      request.type = rule.type;
      request.kind = rule.kind;
      request.norm = rule.norm;
      request.nan = rule.nan;
      request.threshold = rule.threshold;
    }
  return request;
}

Verdict Verifier::verify() {
  Verdict verdict;
  const std::vector<device::CompareReport> reports = compareAll(requests_);
  const size_t siteCount = image_.sites().size();
  for (size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].isExact)
      continue;
    Finding finding;
    finding.request = requests_[i];
    finding.report = reports[i];
    (i < siteCount ? finding.site : finding.gap) = i < siteCount ? i : i - siteCount;
    measureDistance(finding);
    verdict.findings.push_back(finding);
  }
  return verdict;
}

std::vector<device::CompareReport>
Verifier::compareAll(const std::vector<device::CompareRequest>& requests) {
  std::vector<device::CompareRequest> onDevice;
  std::vector<size_t> indices;
  std::vector<device::CompareReport> reports(requests.size());
  for (size_t i = 0; i < requests.size(); ++i)
    if (requests[i].expected != 0) {
      onDevice.push_back(requests[i]);
      indices.push_back(i);
    } else {
      reports[i] = compareOnHost(i, requests[i]);
    }
  const std::vector<device::CompareReport> answers = device_.compare(onDevice);
  for (size_t i = 0; i < indices.size(); ++i)
    reports[indices[i]] = answers[i];
  return reports;
}

/// Brings both sides to the host, for memory whose expected content is not on the device.
device::CompareReport Verifier::compareOnHost(size_t index, device::CompareRequest request) const {
  const size_t siteCount = image_.sites().size();
  const std::vector<std::byte> expected = index < siteCount
                                              ? image_.expectedBytes(image_.sites()[index])
                                              : std::vector<std::byte>(request.sizeBytes);
  std::vector<std::byte> actual(request.sizeBytes);
  device_.copyToHost(actual.data(), request.actual, actual.size());
  request.actual = reinterpret_cast<uint64_t>(actual.data());
  request.expected = reinterpret_cast<uint64_t>(expected.data());
  return device::compareOnHost(request);
}

/// Finds a type that is the same for every binary: from the recorded code or, if that does not show
/// it, from the recorded memory.
void Verifier::findType(Finding& finding) {
  finding.type = finding.request.type;
  if (finding.site == kNone)
    return;
  const SiteElements& elements = types_.of(finding.site);
  finding.isUnordered = elements.isUnordered;
  finding.isTypeKnown = isTyped_[finding.site] || elements.isKnown;
  if (isTyped_[finding.site])
    return;
  if (elements.isKnown)
    finding.type = elements.type.value_or(device::DataType::U8);
  else
    finding.type = guessedType(finding.site);
}

device::DataType Verifier::guessedType(size_t index) const {
  const Site& site = image_.sites()[index];
  const uint64_t size = site.region.sizeBytes;
  std::vector<std::byte> whole;
  if (site.epilogue == 0)
    whole = image_.expectedBytes(site);
  std::vector<std::byte> sample;
  const uint64_t pieces = std::min(kGuessPieces, (size + kGuessBytes - 1) / kGuessBytes);
  for (uint64_t i = 0; i < pieces; ++i) {
    const uint64_t begin = size / pieces * i / 8 * 8;
    const uint64_t bytes = std::min(kGuessBytes, size - begin);
    const size_t at = sample.size();
    sample.resize(at + bytes);
    if (whole.empty())
      device_.copyToHost(sample.data() + at, site.epilogue + begin, bytes);
    else
      std::memcpy(sample.data() + at, whole.data() + begin, bytes);
  }
  return guessType(sample);
}

void Verifier::measureDistance(Finding& finding) {
  findType(finding);
  finding.distance = finding.report;
  const bool isExactRule =
      finding.request.threshold == 0 && finding.request.norm == device::Norm::None;
  if (finding.site != kNone && isTyped_[finding.site] && isExactRule)
    return;
  device::CompareRequest exact{.actual = finding.request.actual,
                               .expected = finding.request.expected,
                               .sizeBytes = finding.request.sizeBytes};
  const size_t index = finding.site != kNone ? finding.site : image_.sites().size() + finding.gap;
  exact.type = finding.type;
  finding.distance =
      exact.expected != 0 ? device_.compare({&exact, 1}).front() : compareOnHost(index, exact);
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
  mismatch.element = report.firstMismatch;
  mismatch.regionOffset = report.firstMismatch * size;
  mismatch.dataType = device::nameOf(finding.type);
  mismatch.expected = device::formatElement(finding.type, report.firstExpectedBits);
  mismatch.actual = device::formatElement(finding.type, report.firstActualBits);
  mismatch.differing = isRejected ? report.mismatchCount : report.differentCount;
  mismatch.elements = (finding.request.sizeBytes + size - 1) / size;
  if (finding.site != kNone) {
    mismatch.region = labels_[finding.site].text;
    mismatch.address = image_.sites()[finding.site].region.address + mismatch.regionOffset;
  } else {
    mismatch.region = gapText(image_.gaps()[finding.gap]);
    mismatch.address = finding.request.actual + mismatch.regionOffset;
  }
  return mismatch;
}

std::string Verifier::suggest(const Finding& finding) const {
  if (finding.site == kNone || finding.report.isAccepted || !isFloating(finding.type))
    return "";
  ToleranceRule rule{.region = labels_[finding.site].rule, .type = finding.type};
  rule.kind = device::ThresholdKind::Relative;
  rule.threshold = roundUpDigit(4 * finding.distance.maxRelative);
  if (rule.threshold == 0 || rule.threshold > 1e-2) {
    rule.kind = device::ThresholdKind::Absolute;
    rule.threshold = roundUpDigit(4 * finding.distance.maxAbsolute);
  }
  return rule.threshold > 0 ? toText(rule) : "";
}

std::string Verifier::suggestUlp(const Finding& finding) const {
  return toText({.region = labels_[finding.site].rule,
                 .type = finding.type,
                 .kind = device::ThresholdKind::Ulp,
                 .threshold = static_cast<double>(finding.distance.maxUlp)});
}

} // namespace mneme::replay
