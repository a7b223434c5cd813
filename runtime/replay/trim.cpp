#include "runtime/replay/trim.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/base/error.h"
#include "runtime/replay/kernel_output.h"
#include "runtime/replay/session_impl.h"
#include "runtime/replay/trimmed_instance.h"

namespace mneme::replay {

namespace {

constexpr uint64_t kChunk = artifact::kChunkBytes;
/// Memory is compared in words, not bytes: a sum that lacks some terms can share some bytes with
/// the whole sum, and others with what was there before.
constexpr uint64_t kWord = 8;

bool isSame(const artifact::Dim3& a, const artifact::Dim3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

} // namespace

struct Trim::Impl {
  Session::Impl& session;
  Configuration configuration;
  double timeoutSeconds;
  std::shared_ptr<device::Module> module = {};
  std::unique_ptr<TrialMemory> memory = {};
  std::vector<void*> args = {};
  artifact::Dim3 grid = {};

  uint64_t wholeChangedBytes = 0; ///< by the recorded grid; 0 if it was not launched here

  void launch(bool isReversed);
  enum class Part { Proper, Whole, None };
  Part partOfWhole() const;
};

Trim::Trim(Session& session, const Configuration& configuration, double timeoutSeconds)
    : impl_(new Impl{*session.impl_, configuration, timeoutSeconds}) {
  Session::Impl& s = impl_->session;
  if (s.instance.heap.sizeBytes > 0)
    throw Error(ErrorCode::Unsupported,
                "the launch reaches what other kernels have allocated on a GPU, and cannot be "
                "trimmed");
  const Options options;
  const auto request = [&] {
    return makeRequest(s.record, s.modules, s.textures->arguments(),
                       codeTargetOf(*s.device, *s.image), configuration, options);
  };
  const auto built = s.modulesOnDevice->build(s.record, s.modules, configuration, options, request);
  impl_->module = s.modulesOnDevice->load(built->image);
  for (const std::vector<std::byte>& value : s.textures->arguments())
    impl_->args.push_back(const_cast<std::byte*>(value.data()));
  s.isMemoryFresh = s.isMemoryTrusted = false;
  impl_->memory = std::make_unique<TrialMemory>(*s.device, *s.image);
}

Trim::~Trim() = default;

void Trim::Impl::launch(bool isReversed) {
  Configuration changed = configuration;
  changed.grid = grid;
  device::LaunchShape shape = launchShape(session.instance, changed);
  shape.isReversed = isReversed;
  session.device->resetHeap();
  session.textures->load(true);
  session.device->launch(*module, shape, args.data(), timeoutSeconds);
  session.textures->store();
}

TrimReference Trim::takeReference(const artifact::Dim3& grid) {
  Impl& t = *impl_;
  const KernelOutput redirected;
  const bool isWhole = isSame(grid, t.configuration.grid);
  TrimReference reference;
  t.grid = grid;
  try {
    t.memory->prepare({});
    t.launch(false);
    t.memory->takeReference(!isWhole);
    reference.changedBytes = t.memory->changedBytes();
    for (const bool isReversed : {true, false}) {
      t.memory->prepare({});
      t.launch(isReversed);
      if (!t.memory->isReference()) {
        reference.refusal = "the kernel leaves other results when it runs again";
        return reference;
      }
    }
  } catch (const Error& error) {
    t.memory->distrust();
    if (isWhole || error.code() != ErrorCode::DeviceFailed)
      throw;
    reference.refusal = std::string("the kernel fails with this grid: ") + error.what();
    return reference;
  }
  if (isWhole)
    t.wholeChangedBytes = reference.changedBytes;
  else if (reference.changedBytes == 0)
    reference.refusal = "a smaller grid changes nothing";
  else if (const Impl::Part part = t.partOfWhole(); part == Impl::Part::None)
    reference.refusal = "a smaller grid leaves something that the whole one does not";
  else if (part == Impl::Part::Whole && reference.changedBytes == t.wholeChangedBytes)
    reference.refusal = "a smaller grid does the same work";
  return reference;
}

/// Compares what the smaller grid left with the whole grid's result. Whole: every word it changed
/// is as the whole grid left it; None: some word is neither that nor what was there before.
Trim::Impl::Part Trim::Impl::partOfWhole() const {
  if (!session.image->moves().isEmpty())
    return Part::None; // content of this process cannot be written into a recording
  Part result = Part::Whole;
  std::vector<std::byte> before, whole;
  for (size_t site = 0; site < session.image->sites().size(); ++site) {
    const Site& place = session.image->sites()[site];
    for (uint64_t chunk = 0; chunk * kChunk < place.region.sizeBytes; ++chunk) {
      const std::vector<std::byte>* part = memory->keptBytes(site, chunk);
      if (part == nullptr)
        continue;
      before.resize(part->size());
      whole.resize(part->size());
      session.image->readRecorded(place, chunk * kChunk, before);
      session.image->readExpected(place, chunk * kChunk, whole);
      for (uint64_t at = 0; at < part->size(); at += kWord) {
        const size_t size = std::min<uint64_t>(kWord, part->size() - at);
        if (std::memcmp(part->data() + at, whole.data() + at, size) == 0)
          continue;
        if (std::memcmp(part->data() + at, before.data() + at, size) != 0)
          return Part::None;
        result = Part::Proper;
      }
    }
  }
  return result;
}

TrimTrial Trim::trial(std::span<const Fill> fills, std::optional<Pattern> noted) {
  Impl& t = *impl_;
  const KernelOutput redirected;
  TrimTrial trial;
  try {
    t.memory->prepare(fills);
    t.launch(false);
    if (const auto where = t.memory->difference(noted))
      trial.difference = *where;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::InvalidArgument)
      throw;
    t.memory->distrust();
    trial.difference = error.what();
  }
  trial.isDeviceUsable = t.session.device->isUsable();
  return trial;
}

bool Trim::doNotesAgree() const { return impl_->memory->doNotesAgree(); }

uint64_t Trim::untouchedBytes() const { return impl_->memory->untouchedBytes(); }

std::vector<artifact::ByteRange> Trim::untouched() const {
  std::vector<artifact::ByteRange> ranges;
  const std::vector<Site>& sites = impl_->session.image->sites();
  for (size_t site = 0; site < sites.size(); ++site) {
    const artifact::Region& region = sites[site].region;
    for (uint64_t offset = 0; offset < region.sizeBytes; offset += kChunk) {
      if (!impl_->memory->isUntouched(site, offset / kChunk))
        continue;
      const uint64_t size = std::min(kChunk, region.sizeBytes - offset);
      if (offset != 0 && !ranges.empty() &&
          ranges.back().offset + ranges.back().sizeBytes == region.address + offset)
        ranges.back().sizeBytes += size;
      else
        ranges.push_back({region.address + offset, size});
    }
  }
  return ranges;
}

void Trim::write(const std::filesystem::path& directory, const TrimOrder& order) {
  Impl& t = *impl_;
  artifact::Instance instance = t.session.instance;
  if (!isSame(t.grid, t.configuration.grid)) {
    instance.grid = t.grid;
    instance.recordedNs = 0; // of the whole launch
  }
  writeTrimmed(directory,
               {.record = t.session.record,
                .instance = instance,
                .modules = t.session.modules,
                .prologue = *t.session.prologue,
                .epilogue = *t.session.epilogue,
                .image = *t.session.image,
                .memory = *t.memory},
               order);
}

} // namespace mneme::replay
