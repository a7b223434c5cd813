// Which memory belongs to a launch: allocations, device variables, what its arguments reach.
#include <algorithm>

#include "runtime/core/base/error.h"
#include "runtime/core/base/sentence.h"
#include "runtime/recorder/given_pointers.h"
#include "runtime/recorder/open_captures.h"
#include "runtime/recorder/pageable_memory.h"
#include "runtime/recorder/process_facts.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

constexpr const char* kPastRecorder =
    "the recorder has not seen allocated: a library opened with RTLD_DEEPBIND calls the vendor's "
    "runtime past it";
/// Limit for memory that is mapped piece by piece.
constexpr size_t kMostPieces = 1 << 16;
/// How long a device is waited for that is asked, once, where its heap is.
constexpr std::chrono::seconds kHeapPatience{1};

/// As memoryAt(), if nothing of it is known.
std::optional<artifact::Region> unseenAt(uint64_t address, DeviceAccess& access,
                                         const std::vector<artifact::Region>& known) {
  auto found = access.memoryAt(address);
  const auto overlaps = [&](const artifact::Region& one) {
    return one.address < found->address + found->sizeBytes &&
           found->address < one.address + one.sizeBytes;
  };
  return found && found->sizeBytes > 0 && std::ranges::none_of(known, overlaps) ? found
                                                                                : std::nullopt;
}

/// Memory that is mapped piece by piece goes on, for kernels, in the pieces beside it.
std::vector<artifact::Region> piecesAround(uint64_t address, DeviceAccess& access,
                                           const std::vector<artifact::Region>& known) {
  std::vector<artifact::Region> pieces;
  const auto take = [&](uint64_t at) {
    const auto piece = unseenAt(at, access, known);
    if (piece && pieces.size() < kMostPieces)
      pieces.push_back(*piece);
    return piece && pieces.size() < kMostPieces;
  };
  if (!take(address))
    return pieces;
  const artifact::Region first = pieces.front();
  for (uint64_t begin = first.address; begin > 0 && take(begin - 1);)
    begin = pieces.back().address;
  for (uint64_t end = first.address + first.sizeBytes; take(end);)
    end = pieces.back().address + pieces.back().sizeBytes;
  return pieces;
}

} // namespace

/// What cannot be found is as the code says: constants, and variables that the program has not got,
/// where its runtime knows all it has (its images leave out what their code does not use).
void Session::addHiddenGlobals(const KernelInfo& info, const void* kernel,
                               std::vector<artifact::Region>& regions) {
  if (info.hiddenGlobals.empty())
    return;
  std::vector<std::string> names;
  for (const HiddenGlobal& global : info.hiddenGlobals)
    names.push_back(global.name);
  std::vector<artifact::Region> found = backend_.variablesOf(info.placeOf(kernel), names);
  for (const HiddenGlobal& global : info.hiddenGlobals) {
    const auto place = std::ranges::find(found, global.name, &artifact::Region::name);
    if (place != found.end())
      place->isConstant = global.isConstant;
    else if (!global.isConstant && !backend_.allVariables())
      note("device variable '" + global.name + "' of kernel '" + info.blob->shownName() +
           "' cannot be found: a replay starts it from its initial value");
  }
  regions.insert(regions.end(), found.begin(), found.end());
}

void Session::addGlobals(const KernelInfo& info, const void* kernel,
                         std::vector<artifact::Region>& regions) {
  addHiddenGlobals(info, kernel, regions);
  for (const GlobalPlace& global : info.globals) {
    const void* address = backend_.addressOf(global.hostShadow);
    if (!address)
      throw Error(ErrorCode::DeviceFailed,
                  "the address of device variable '" + global.name + "' cannot be found");
    regions.push_back(variableRegion(global.name, address, global.sizeBytes, global.isConstant));
  }
}

bool Session::isReadable(const artifact::Region& region, DeviceAccess& access) const {
  return region.kind == artifact::RegionKind::Global ||
         memory_->isServed(reinterpret_cast<const void*>(region.address)) || access.canRead(region);
}

/// What belongs to the launch whatever its pointers lead to.
std::vector<artifact::Region>
Session::certainRegions(const KernelInfo& info, const mneme_launch& launch, DeviceAccess& access) {
  auto regions = memory_->regions(place_);
  std::erase_if(regions,
                [&](const artifact::Region& region) { return !isReadable(region, access); });
  if (place_.context && !regions.empty())
    note("memory of contexts that the program made itself is recorded where the vendor placed it; "
         "a replay may not be granted these addresses");
  addGlobals(info, launch.kernel, regions);

  if (settings_.placement != Placement::Vendor && !isLeftToVendor_ && memory_->hasForeign())
    note("some device memory did not fit into the address window of " +
         std::to_string(settings_.windowBytes >> 20) +
         " MiB and is recorded where the vendor placed it; a replay may not be granted these "
         "addresses: raise -vass");
  return regions;
}

/// Everything else that a kernel could see. A variable that has the name of one of the kernel's own
/// (in another library) must not take its place in a replay: it goes without a name.
Reach Session::reachOf(const KernelInfo& info, const mneme_launch& launch,
                       const std::vector<artifact::Region>& certain,
                       const std::optional<artifact::Region>& heap, DeviceAccess& access) {
  std::vector<uint64_t> words = wordArguments(*info.blob, launch);
  const std::vector<uint64_t> pointers = pointerArguments(*info.blob, launch);
  words.insert(words.end(), pointers.begin(), pointers.end());
  auto candidates = memory_->reachable(place_, words);
  for (const uint64_t address : memory_->graphMemory())
    if (const auto region = access.memoryAt(address))
      candidates.push_back(*region);
  if (heap)
    candidates.push_back(*heap);
  const MappedMemory mapped = memory_->mapped();
  addMapped(mapped, access, candidates);
  for (artifact::Region global : globals_->find(place_)) {
    if (info.globalNames.contains(global.name))
      global.name.clear();
    candidates.push_back(std::move(global));
  }
  return Reach(
      std::move(candidates), certain, searches_,
      [this, &access](const artifact::Region& region) { return isReadable(region, access); },
      mapped.joints(), pageableFor(info, access));
}

/// Memory that the window could have is none of the host's.
Reach::OnDemand Session::pageableFor(const KernelInfo& info, DeviceAccess& access) {
  PageableMemory* pageable = access.pageable();
  if (!pageable)
    return {};
  if (const int refusal = pageable->refusal()) {
    note(systemMessage("ordinary memory of the host is not recorded, since the system does not let "
                       "it be read (process_vm_readv)",
                       refusal));
    return {};
  }
  if (pageable->missesBlocks())
    note(
        "kernel '" + info.blob->shownName() +
        "' may use memory of malloc that is not recorded, since its blocks could not be told apart "
        "(perhaps other threads allocated meanwhile): a replay may fail");
  const auto find = [this, pageable, kernel = info.blob->shownName()](uint64_t address,
                                                                      bool isArgument) {
    using Given = PageableMemory::Given;
    const auto piece =
        memory_->isPlaced(address)
            ? std::nullopt
            : pageable->find(address, isArgument ? Given::AsArgument : Given::InMemory);
    if (!piece)
      return std::optional<Reach::Asked>();
    Reach::Asked found;
    found.region.address = piece->range.begin;
    found.region.sizeBytes = piece->range.sizeBytes;
    found.region.kind = artifact::RegionKind::HostPinned;
    found.isFollowed = piece->isExact;
    if (!piece->isExact)
      note("kernel '" + kernel +
           "' was given host memory that glibc's malloc did not give out: the mapping around it is "
           "recorded, and where other threads write to that, a replay may differ");
    return std::optional(std::move(found));
  };
  return {pageable->ranges(), find};
}

/// Looks for the heap of a GPU before the first kernel is launched there that allocates: from then
/// on the program cannot change its size, and nothing was taken from it yet, which is how it is
/// recognised. Launches of other threads that allocate are held up meanwhile, but not for ever.
void Session::findHeap(const KernelInfo& info, const mneme_launch& launch) {
  if (!info.usesHeap || !backend_.findsHeaps())
    return;
  const WorkPlace place = backend_.placeOfLaunch(launch);
  {
    std::unique_lock lock(heapsMutex_);
    const auto [known, isNew] = heaps_.try_emplace(place);
    if (!isNew)
      heapAnswered_.wait_for(lock, 2 * kHeapPatience, [&] {
        const auto now = heaps_.find(place);
        return now == heaps_.end() || !now->second.isAskedFor;
      });
    if (!isNew || isCapturingAny())
      return;
    known->second.isAskedFor = true;
  }
  std::optional<artifact::Region> found;
  try {
    found = askForHeap(place);
  } catch (const std::exception& error) {
    note(sentence("launches that reach what kernels have allocated (new, malloc) are recorded "
                  "without the device's heap: ",
                  error.what()));
  }
  {
    const std::lock_guard lock(heapsMutex_);
    if (const auto known = heaps_.find(place); known != heaps_.end())
      known->second = {false, found};
  }
  heapAnswered_.notify_all();
}

/// Never waits for ever: a kernel may fill the device and wait for what the program does next.
std::optional<artifact::Region> Session::askForHeap(const WorkPlace& place) {
  const auto isIdle = [&] {
    return backend_.synchronizeWithin(place.device, Patience(kHeapPatience)).has_value();
  };
  if (goesOn(place.device) || !isIdle())
    throw Error(ErrorCode::DeviceFailed, "the device was at work when it was looked for");
  AtPlace there(backend_, place);
  if (!there.isThere() && backend_.prepareContext())
    there.enter();
  return there.isThere() && backend_.prepareContext() ? accessOf(place).heap(kHeapPatience)
                                                      : std::nullopt;
}

/// The heap of a GPU, if the launch may reach what others have allocated there. A kernel that
/// allocates or frees itself needs tables as well that the driver keeps elsewhere.
std::optional<artifact::Region> Session::heapFor(const Attempt& attempt) {
  const std::lock_guard lock(heapsMutex_);
  const auto known = heaps_.find(place_);
  const bool isUsable = !attempt.info->usesHeap && !attempt.companions;
  return isUsable && known != heaps_.end() ? known->second.found : std::nullopt;
}

/// What the program has mapped itself, where this device may use it.
void Session::addMapped(const MappedMemory& mapped, DeviceAccess& access,
                        std::vector<artifact::Region>& candidates) {
  bool isElsewhere = false;
  for (const uint64_t address : mapped.pieces()) {
    const auto region = access.memoryAt(address);
    if (!region)
      continue;
    candidates.push_back(*region);
    isElsewhere |= !MappedMemory::isPlaced(address);
  }
  if (isElsewhere)
    note("the program mapped device memory at addresses of its own or the vendor's choice: it is "
         "recorded where it lies; a replay may not be granted these addresses");
}

/// Adds the vendor's memory that was allocated without the recorder and that one of `words` points
/// into. Memory that the recorder places is either known or free.
void Session::addUnseen(const KernelInfo& info, const std::vector<uint64_t>& words,
                        DeviceAccess& access, std::vector<artifact::Region>& regions) {
  for (const uint64_t word : words) {
    if (!mayBeAddress(word) || memory_->isPlaced(word) || memory_->isUnreadable(word))
      continue;
    std::vector<artifact::Region> found = piecesAround(word, access, regions);
    if (found.empty())
      continue;
    regions.insert(regions.end(), found.begin(), found.end());
    note("kernel '" + info.blob->shownName() + "' was given memory that " +
         (wasAnyOpenedApart() ? kPastRecorder
                              : "came from no allocation function the recorder knows (of a graph, "
                                "mapped by the program, of another process)") +
         ": it is recorded where it lies; a replay may not be granted these addresses");
  }
}

/// What the arguments lead to; a word of an aggregate, or an integer, may be an address as well.
void Session::addArguments(const KernelInfo& info, const mneme_launch& launch, Reach& reach,
                           DeviceAccess& access, std::vector<artifact::Region>& regions) {
  const std::vector<uint64_t> pointers = pointerArguments(*info.blob, launch);
  const std::vector<uint64_t> words = wordArguments(*info.blob, launch);
  for (const uint64_t word : words)
    reach.lookAt(word);
  for (const uint64_t pointer : pointers)
    reach.lookAt(pointer);
  const std::vector<artifact::Region> found = reach.takeFound();
  regions.insert(regions.end(), found.begin(), found.end());
  addUnseen(info, pointers, access, regions);
  addUnseen(info, words, access, regions);
  noteUnrecorded(info, launch, regions);
}

/// A member may be there for the host alone, so that one that leads nowhere is not worth a word.
void Session::noteUnrecorded(const KernelInfo& info, const mneme_launch& launch,
                             const std::vector<artifact::Region>& regions) {
  if (info.knowsFunctions)
    return;
  for (const GivenPointer& pointer : givenPointers(*info.blob, launch)) {
    const auto isKnown = [&](const artifact::Region& region) { // the end counts, too
      return pointer.address >= region.address &&
             pointer.address - region.address <= region.sizeBytes;
    };
    if (std::ranges::any_of(regions, isKnown))
      continue;
    const std::string given = "kernel '" + info.blob->shownName() + "' was given ";
    if (wasAnyOpenedApart())
      note(given + "memory (" + pointer.name + ") that " + kPastRecorder +
           ": it is not recorded, and a replay may fail");
    else if (isHostReadable(pointer.address))
      note(given + "ordinary memory of the host (" + pointer.name +
           "), which is not recorded: replays fail if the kernel uses it; allocate it as pinned "
           "or managed memory, or copy it to the device");
    else if (!pointer.isMember)
      note(given + "an address that no allocation function returned (" + pointer.name +
           "): what is there is not recorded, and a replay may fail");
  }
}

bool Session::leavesToVendor() noexcept {
  if (isLeftToVendor_)
    return true;
  if (settings_.placement != Placement::Automatic || backend_.isOwnRuntime())
    return false;
  const std::string sharer = sharing_.sharer();
  if (sharer.empty())
    return false;
  leaveToVendor();
  note(sentence(sharer, " may share device memory with other processes, so the vendor places it: a "
                        "replay has to be granted the same addresses (MNEME_ALLOCATIONS=window "
                        "places it for replays anyway)"));
  return true;
}

/// The page in the guards around the memory that launches at the current place are given.
Window Session::guardPage() const {
  return place_.context ? Window() : memory_->guardPage(place_.device);
}

/// Writes before this point did not come from the recorded launch.
void Session::clearGuards(DeviceAccess& access) {
  if (const Window page = guardPage(); page.sizeBytes > 0)
    access.clear(page.address, page.sizeBytes);
}

void Session::noteStrayWrite(const KernelInfo& info, DeviceAccess& access) {
  const Window page = guardPage();
  if (page.sizeBytes == 0)
    return;
  std::vector<std::byte> bytes(page.sizeBytes);
  access.read(page.address, bytes);
  const auto first =
      std::ranges::find_if(bytes, [](std::byte byte) { return byte != std::byte{0}; });
  if (first == bytes.end())
    return;
  const auto stray =
      memory_->nearestStray(place_.device, static_cast<uint64_t>(first - bytes.begin()));
  std::string place;
  if (stray)
    place = ", most likely " + std::to_string(stray->distanceBytes) + " bytes " +
            (stray->isBehind ? "behind" : "in front of") + " an allocation of " +
            std::to_string(stray->near.sizeBytes) + " bytes";
  note("kernel '" + info.blob->shownName() + "' wrote outside of every allocation" + place +
       ": its replay may fail, or overwrite other memory");
}

} // namespace mneme::record
