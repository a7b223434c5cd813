// Textures and surfaces that a launch can see.
#include <algorithm>
#include <iterator>

#include "runtime/core/base/sentence.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

/// Where arguments name no object, a kernel may know any: so many are recorded at most.
constexpr size_t kMostUnnamed = 256;

} // namespace

void Session::textureMade(uint64_t handle, bool isSurface, const TextureWords& words) noexcept {
  try {
    if (const TextureAccess* access = backend_.textures())
      if (const auto place = access->place())
        textures_.add({.place = *place,
                       .handle = handle,
                       .isSurface = isSurface,
                       .array = words.array,
                       .sampler = access->samplerOf(words.sampler),
                       .view = access->viewOf(words.view)});
  } catch (const std::exception& error) {
    note(sentence("a texture cannot be recorded: ", error.what()));
  }
}

void Session::textureDestroyed(uint64_t handle, bool isSurface) noexcept {
  if (const TextureAccess* access = backend_.textures())
    if (const auto place = access->place())
      textures_.remove(*place, handle, isSurface);
}

void Session::arrayPartMade(const void* part, const void* whole,
                            std::optional<uint32_t> level) noexcept {
  try {
    if (const TextureAccess* access = backend_.textures())
      if (const auto place = access->place())
        textures_.notePart(part, {whole, level, *place});
  } catch (const std::exception& error) {
    note(sentence("a level of an array cannot be recorded: ", error.what()));
  }
}

void Session::arrayDestroyed(const void* array) noexcept { textures_.forgetArray(array); }

/// Takes the objects of one kind that the launch can see: those that its arguments hold, and the
/// others as well, since handles may be in memory, and a number may look like a handle.
void Session::takeTextures(const KernelInfo& info, const mneme_launch& launch, bool isSurface,
                           LaunchTextures& textures) {
  const char* const kind = isSurface ? "surfaces" : "textures";
  std::vector<LiveTextures::Object> live = textures_.of(place_, isSurface), others;
  const std::vector<uint64_t> words = wordArguments(*info.blob, launch);
  const auto isGiven = [&](const LiveTextures::Object& one) {
    return std::ranges::find(words, one.handle) != words.end();
  };
  if (std::ranges::any_of(live, isGiven)) {
    std::ranges::remove_copy_if(live, std::back_inserter(others), isGiven);
    std::erase_if(live, [&](const LiveTextures::Object& one) { return !isGiven(one); });
  }
  std::string why;
  if (live.empty())
    why = "it has no texture or surface object";
  else if (live.size() > kMostUnnamed && !isGiven(live.front()))
    why = "its arguments name none of " + std::to_string(live.size()) + " objects";
  else
    why = textures.take(live, isGiven(live.front()));
  if (const size_t left = why.empty() ? textures.takeIfSmall(others, kMostUnnamed) : 0)
    note("kernel '" + info.blob->shownName() + "' may read " + kind +
         " that no argument names: " + std::to_string(left) + " of " +
         std::to_string(others.size()) + " are not recorded, and a replay that reads them differs");
  if (!why.empty())
    note("kernel '" + info.blob->shownName() + "' reads what a recording does not hold (" + kind +
         "): its replays may differ; " + why);
}

/// Takes what a launch can see of textures and surfaces; nothing where the vendor does not tell.
void Session::addTextures(const KernelInfo& info, const mneme_launch& launch,
                          LaunchTextures& textures) {
  if (!backend_.textures())
    return;
  const std::set<std::string> reads =
      unrecordedReads(info, backend_.deviceName(static_cast<int>(place_.device)));
  if (reads.contains("textures"))
    takeTextures(info, launch, false, textures);
  if (reads.contains("surfaces"))
    takeTextures(info, launch, true, textures);
}

/// Returns what a launch can see; of a graph that is kept, what any of its kernels can.
std::shared_ptr<LaunchTextures> Session::texturesOf(const Attempt& attempt,
                                                    const mneme_launch& launch) {
  const auto& graph = attempt.companions;
  if (graph && graph->textures) {
    std::vector<LiveTextures::Object> live = textures_.of(place_, false);
    std::ranges::move(textures_.of(place_, true), std::back_inserter(live));
    graph->textures->noteLive(live); // between kernels, other threads may have ended some
    return graph->textures;
  }
  auto textures = std::make_shared<LaunchTextures>(*memory_, backend_.textures(), place_);
  if (!graph) {
    addTextures(*attempt.info, launch, *textures);
    return textures;
  }
  for (const auto& [info, other] : graph->launches)
    addTextures(*info, other, *textures);
  return graph->textures = std::move(textures);
}

/// Adds the program's own memory that textures show.
void Session::addMemoryOf(const KernelInfo& info, const std::vector<TextureObject>& textures,
                          Reach& reach, DeviceAccess& access,
                          std::vector<artifact::Region>& regions) {
  std::vector<uint64_t> words;
  for (const TextureObject& one : textures)
    if (!one.isArray())
      words.push_back(one.memory);
  for (const uint64_t word : words)
    reach.lookAt(word);
  const std::vector<artifact::Region> found = reach.takeFound();
  regions.insert(regions.end(), found.begin(), found.end());
  addUnseen(info, words, access, regions);
}

} // namespace mneme::record
