// Streams: a call has finished its work when it returns, unless the stream is being captured or
// waits for a kernel that waits itself.
#include "runtime/emulator/runtimes/core/stream.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "runtime/emulator/runtimes/core/event.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_capture.h"
#include "runtime/emulator/runtimes/core/handle_table.h"
#include "runtime/emulator/runtimes/core/lanes.h"
#include "runtime/emulator/runtimes/core/status.h"

namespace mneme::cpu_runtime {
namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;
constexpr unsigned kExternal = 1; // in a capture: a node, and no dependency

/// CUDA's and HIP's unions have this size, and their attributes the same numbers.
using AttributeValue = std::array<std::byte, 64>;
constexpr int kPriorityAttribute = 8;

/// Those of a new stream: policies of access and synchronisation (1: automatic), domains of
/// memory (the remote one is its own) and the domain of its launches. Nothing here obeys them.
std::map<int, AttributeValue> newAttributes() {
  return {{1, {}}, {3, {std::byte{1}}}, {9, {std::byte{0}, std::byte{1}}}, {10, {}}};
}

struct Stream {
  unsigned flags = 0; ///< 1: does not wait for the default stream
  std::atomic<int> priority = 0;
  unsigned long long id = 0;
  std::mutex mutex; ///< of `attributes`
  std::map<int, AttributeValue> attributes = newAttributes();
};

HandleTable<Stream>& streams() {
  static auto* table = new HandleTable<Stream>;
  return *table;
}

/// Null, the legacy stream (1) and the stream of each thread (2) need no object.
bool isDefault(void* handle) { return reinterpret_cast<uintptr_t>(handle) <= 2; }

std::shared_ptr<Stream> find(void* handle) {
  static const auto* defaultStream = new std::shared_ptr<Stream>(std::make_shared<Stream>());
  return isDefault(handle) ? *defaultStream : streams().find(handle);
}

int validPriority(int wanted) { return std::clamp(wanted, kGreatestPriority, kLeastPriority); }

Status create(void** stream, unsigned flags, int priority) {
  if (!stream || flags > 1)
    return Status::InvalidValue;
  static std::atomic<unsigned long long> nextId{3};
  auto object = std::make_shared<Stream>();
  object->flags = flags;
  object->priority = validPriority(priority);
  object->id = nextId++;
  *stream = streams().add(std::move(object));
  return Status::Success;
}

Status checkStream(void* stream) {
  return isStream(stream) ? Status::Success : Status::InvalidResourceHandle;
}

template <typename Value, typename Read> Status query(void* stream, Value* out, Read&& read) {
  const auto object = find(stream);
  if (!object)
    return Status::InvalidResourceHandle;
  if (!out)
    return Status::InvalidValue;
  *out = read(*object);
  return Status::Success;
}

/// Reads or writes an attribute of a stream: `use` gets its value, and may change it.
template <typename Use> Status onAttribute(void* stream, int attribute, Use&& use) {
  const auto object = find(stream);
  if (!object)
    return Status::InvalidResourceHandle;
  const std::scoped_lock lock(object->mutex);
  if (attribute == kPriorityAttribute) {
    AttributeValue value{};
    int priority = object->priority;
    std::memcpy(value.data(), &priority, sizeof(priority));
    use(value);
    std::memcpy(&priority, value.data(), sizeof(priority));
    object->priority = validPriority(priority);
    return Status::Success;
  }
  const auto found = object->attributes.find(attribute);
  if (found == object->attributes.end())
    return Status::InvalidValue;
  use(found->second);
  return Status::Success;
}

using Callback = void (*)(void* stream, Status status, void* user);

/// The application's function has the vendor's own types in these places: same ABI, another name.
[[clang::no_sanitize("function")]] void notify(Callback callback, void* stream, void* user) {
  callback(stream, isFaulted() ? synchronise() : Status::Success, user);
}

} // namespace

bool isLegacyStream(void* handle) noexcept { return reinterpret_cast<uintptr_t>(handle) <= 1; }

const void* streamKey(void* handle) noexcept {
  static thread_local char perThread;
  if (isLegacyStream(handle))
    return nullptr;
  return reinterpret_cast<uintptr_t>(handle) == 2 ? &perThread : handle;
}

bool isNonBlocking(void* handle) {
  const auto object = find(handle);
  return object && (object->flags & 1) != 0;
}

bool isStream(void* handle) { return isDefault(handle) || streams().find(handle) != nullptr; }

} // namespace mneme::cpu_runtime

using namespace mneme::cpu_runtime;

MNEME_RUNTIME_API Status gpuStreamCreate(void** stream) {
  return api([&] { return create(stream, 0, 0); });
}

MNEME_RUNTIME_API Status gpuStreamCreateWithFlags(void** stream, unsigned flags) {
  return api([&] { return create(stream, flags, 0); });
}

MNEME_RUNTIME_API Status gpuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return api([&] { return create(stream, flags, priority); });
}

MNEME_RUNTIME_API Status gpuStreamDestroy(void* stream) {
  return api([&] {
    forgetCapturedStream(stream);
    return streams().remove(stream) ? Status::Success : Status::InvalidResourceHandle;
  });
}

MNEME_RUNTIME_API Status gpuStreamSynchronize(void* stream) {
  const auto check = [&] { return isStream(stream) ? mayWaitFor(stream) : checkStream(stream); };
  if (isAnyBusy())
    if (const Status bad = check(); bad == Status::Success)
      waitForStream(stream);
  return synchronising(check);
}

MNEME_RUNTIME_API Status gpuStreamQuery(void* stream) {
  if (isAnyBusy() && isStream(stream) && isStreamBusy(stream))
    return remember(Status::NotReady);
  return gpuStreamSynchronize(stream);
}

MNEME_RUNTIME_API Status gpuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return api([&] {
    if (flags > 1)
      return Status::InvalidValue;
    if (!isEvent(event) || !isStream(stream))
      return Status::InvalidResourceHandle;
    Status status = Status::Success;
    if (!captureWait(stream, event, flags == kExternal, status) && isAnyBusy())
      waitBehind(stream, event);
    return status;
  });
}

MNEME_RUNTIME_API Status gpuStreamGetFlags(void* stream, unsigned* flags) {
  return api([&] { return query(stream, flags, [](const Stream& s) { return s.flags; }); });
}

MNEME_RUNTIME_API Status gpuStreamGetPriority(void* stream, int* priority) {
  return api(
      [&] { return query(stream, priority, [](const Stream& s) { return s.priority.load(); }); });
}

MNEME_RUNTIME_API Status gpuStreamGetId(void* stream, unsigned long long* id) {
  return api([&] {
    const auto number = static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(stream));
    return query(stream, id, [&](const Stream& s) { return s.id ? s.id : number; });
  });
}

MNEME_RUNTIME_API Status gpuStreamGetDevice(void* stream, int* device) {
  return api([&] { return query(stream, device, [](const Stream&) { return 0; }); });
}

MNEME_RUNTIME_API Status gpuStreamAttachMemAsync(void* stream, void*, size_t, unsigned) {
  return api([&] { return checkStream(stream); });
}

MNEME_RUNTIME_API Status gpuStreamCopyAttributes(void* destination, void* source) {
  return api([&] {
    const auto from = find(source), to = find(destination);
    if (!from || !to)
      return Status::InvalidResourceHandle;
    if (from == to)
      return Status::Success;
    const std::scoped_lock lock(from->mutex, to->mutex);
    to->attributes = from->attributes;
    to->priority = from->priority.load();
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuStreamGetAttribute(void* stream, int attribute, void* value) {
  return api([&] {
    const auto read = [&](const AttributeValue& held) {
      std::memcpy(value, held.data(), held.size());
    };
    return value ? onAttribute(stream, attribute, read) : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuStreamSetAttribute(void* stream, int attribute, const void* value) {
  return api([&] {
    const auto write = [&](AttributeValue& held) { std::memcpy(held.data(), value, held.size()); };
    return value ? onAttribute(stream, attribute, write) : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api([&] {
    if (least)
      *least = kLeastPriority;
    if (greatest)
      *greatest = kGreatestPriority;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuLaunchHostFunc(void* stream, void (*function)(void*), void* user) {
  return api([&] {
    if (!function)
      return Status::InvalidValue;
    const auto makeWork = [&](Work& work) {
      work = HostWork{{function, user}};
      return Status::Success;
    };
    return onStream(stream, makeWork, [&] {
      if (!isFaulted())
        function(user);
      return Status::Success;
    });
  });
}

MNEME_RUNTIME_API Status gpuStreamAddCallback(void* stream, Callback callback, void* user,
                                              unsigned flags) {
  return api([&] {
    if (!callback || flags != 0)
      return Status::InvalidValue;
    Status status = checkStream(stream);
    if (status == Status::Success)
      status = mayWaitFor(stream); // graphs have no such nodes
    if (status == Status::Success && isAnyBusy())
      waitForStream(stream);
    if (status == Status::Success)
      notify(callback, stream, user);
    return status;
  });
}
