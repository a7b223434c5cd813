#include "runtime/replay/graph_steps.h"

#include <algorithm>
#include <optional>

#include "runtime/core/base/error.h"
#include "runtime/replay/build_licence.h"
#include "runtime/replay/recorded_code.h"
#include "runtime/replay/text.h"

namespace mneme::replay {
namespace {

/// Equal bytes between different ones that are not worth a copy of their own.
constexpr size_t kShortGap = 64;

artifact::Snapshot openSnapshot(const GraphStep& step, const std::string& file) {
  return artifact::Snapshot::open(step.record.parent_path() / file);
}

size_t siteOf(const MemoryImage& image, const artifact::Region& region, const OpenStep& step) {
  for (size_t index = 0; index < image.sites().size(); ++index) {
    const artifact::Region& known = image.sites()[index].region;
    if (known.address == region.address && known.sizeBytes == region.sizeBytes)
      return index;
  }
  throw Error(ErrorCode::Unsupported,
              "kernel '" + step.record.demangledName + "' of the graph sees memory at " +
                  hexText(region.address) +
                  " that was not known before the first kernel, so they share no memory image");
}

std::optional<size_t> indexIn(const artifact::Snapshot& snapshot, const artifact::Region& region) {
  const auto& regions = snapshot.regions();
  const auto found = std::ranges::find_if(regions, [&](const artifact::Region& one) {
    return one.address == region.address && one.sizeBytes == region.sizeBytes;
  });
  return found == regions.end()
             ? std::nullopt
             : std::optional<size_t>(static_cast<size_t>(found - regions.begin()));
}

/// Adds the parts of `bytes` that differ from `known`.
void addDifferences(std::vector<Patch>& patches, const Patch& whole,
                    const std::vector<std::byte>& known) {
  const std::vector<std::byte>& bytes = whole.bytes;
  for (size_t at = 0; at < bytes.size();) {
    if (bytes[at] == known[at]) {
      ++at;
      continue;
    }
    size_t end = at + 1, equal = 0;
    for (size_t next = end; next < bytes.size() && equal <= kShortGap; ++next) {
      equal = bytes[next] == known[next] ? equal + 1 : 0;
      end = equal == 0 ? next + 1 : end;
    }
    patches.push_back({whole.site, whole.offset + at, {bytes.begin() + at, bytes.begin() + end}});
    at = end;
  }
}

} // namespace

OpenStep::OpenStep(const GraphStep& step)
    : record(artifact::KernelRecord::load(step.record)),
      instance(chooseInstance(record, step.recordId)), configuration(step.configuration),
      modules(readModules(record, step.record)), prologue(openSnapshot(step, instance.prologue)),
      epilogue(openSnapshot(step, instance.epilogue)) {
  record.readImages(std::filesystem::path(step.record).parent_path());
}

std::vector<Patch> patchesBetween(const OpenStep& before, const OpenStep& next,
                                  const MemoryImage& image) {
  std::vector<Patch> patches;
  for (size_t index = 0; index < next.prologue.regions().size(); ++index) {
    const artifact::Region& region = next.prologue.regions()[index];
    if (region.sizeBytes == 0)
      continue;
    const size_t site = siteOf(image, region, next);
    const std::optional<size_t> earlier = indexIn(before.epilogue, region);
    for (const artifact::ChangedRange& range :
         artifact::changedRanges(before.epilogue, next.prologue, index)) {
      Patch whole{site, range.offset, std::vector<std::byte>(range.sizeBytes)};
      next.prologue.read(index, range.offset, whole.bytes);
      std::vector<std::byte> known(range.sizeBytes);
      if (earlier)
        before.epilogue.read(*earlier, range.offset, known);
      const size_t first = patches.size();
      addDifferences(patches, whole, known);
      if (!image.moves().isEmpty() && patches.size() > first) { // pointers are whole words
        patches.resize(first);
        image.moves().translate(whole.bytes, region.address + range.offset);
        patches.push_back(std::move(whole));
      }
    }
  }
  return patches;
}

void buildStep(OpenStep& step, device::Device& device, MemoryImage& image, const Options& options,
               Result& result) {
  step.shape = launchShape(step.instance, step.configuration);
  const device::Description limits = limitsOf(device, step.record);
  device::checkShape(limits, step.shape, 0);
  step.cache = std::make_unique<ModuleCache>(device, image, step.record.kernelName);
  const auto built = step.cache->build(step.record, step.modules, step.configuration, options, [&] {
    return makeRequest(step.record, step.modules, step.values, codeTargetOf(device, image),
                       step.configuration, options);
  });
  Result statistics;
  readStatistics(built->statisticsJson, statistics);
  result.preprocessIrSeconds += statistics.preprocessIrSeconds;
  result.optSeconds += statistics.optSeconds;
  result.codegenSeconds += statistics.codegenSeconds;
  result.objectBytes += statistics.objectBytes;
  step.unrecordedReads = std::move(statistics.unrecordedReads);
  dropRecordedReads(step.unrecordedReads, step.record.device);
  step.module = step.cache->load(built->image);
  device::checkShape(limits, step.shape, step.module->attributes().staticSharedBytes);
  // Each module has the constants that it keeps itself; other variables are those of all.
  for (const Site& site : image.sites())
    if (site.isGlobal() && site.live != site.home && (!site.region.isConstant || site.isChanged()))
      throw Error(ErrorCode::Unsupported, "variable '" + site.region.name + "' of kernel '" +
                                              step.record.demangledName + "' cannot be placed on " +
                                              device.description().id +
                                              " where the other kernels of the graph have it");
}

} // namespace mneme::replay
