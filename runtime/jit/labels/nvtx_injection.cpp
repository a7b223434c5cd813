// What NVTX loads: ranges that a thread pushes become labels of its launches.
//
// Each library with NVTX in it has pointers to functions, which are null unless a tool sets them.
// NVTX_INJECTION64_PATH names the tool, and MNEME_NVTX_INJECTION the one that the user has: that
// sets its functions first, and ours call them.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cwchar>
#include <mutex>
#include <string>
#include <unordered_map>

#include "include/mneme/label.h"
#include "runtime/core/base/environment.h"

namespace {

using Slot = void (*)();
using ExportTable = const void* (*)(uint32_t);
using Initialize = int (*)(ExportTable);

// Names and numbers of NVTX's interface for tools.
constexpr uint32_t kCallbacksTable = 1;
constexpr uint32_t kCoreModule = 1, kDomainModule = 5;
constexpr uint32_t kRangePushEx = 8, kRangePushA = 9, kRangePushW = 10, kRangePop = 11;
constexpr uint32_t kDomainRangePushEx = 4, kDomainRangePop = 5;
constexpr uint32_t kRegisterStringA = 10, kRegisterStringW = 11;
constexpr int32_t kAscii = 1, kWide = 2, kRegistered = 3;
constexpr int kNoTracking = -2; ///< what a push and a pop return without a tool

struct CallbacksTable {
  size_t sizeBytes;
  int (*functionTable)(uint32_t module, Slot*** table, uint32_t* count);
};

struct EventAttributes {
  uint16_t version, sizeBytes;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved;
  uint64_t payload;
  int32_t messageType;
  const void* message;
};

std::string narrow(const wchar_t* wide) {
  std::string text;
  for (; wide && *wide; ++wide) {
    const auto code = static_cast<uint32_t>(*wide);
    if (code < 0x80) {
      text += static_cast<char>(code);
      continue;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr unsigned kFirst[] = {0, 0xc0, 0xe0, 0xf0};
    text += static_cast<char>(kFirst[more] | (code >> (6 * more)));
    for (int left = more - 1; left >= 0; --left)
      text += static_cast<char>(0x80 | ((code >> (6 * left)) & 0x3f));
  }
  return text;
}

/// Strings that the program registered, by their handles.
class Strings {
public:
  void add(const void* handle, const std::string& text) {
    const std::lock_guard lock(mutex_);
    texts_[handle] = text;
  }
  const void* addOwn(const std::string& text) {
    const std::lock_guard lock(mutex_);
    auto* const handle = new char;
    texts_[handle] = text;
    return handle;
  }
  std::string find(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = texts_.find(handle);
    return found == texts_.end() ? "" : found->second;
  }

private:
  std::mutex mutex_;
  std::unordered_map<const void*, std::string> texts_;
};

Strings& strings() {
  static auto* const all = new Strings; // the program may end while other threads use it
  return *all;
}

void push(const char* label) {
  if (mneme_push_label)
    mneme_push_label(label ? label : "");
}

void pop() {
  if (mneme_pop_label)
    mneme_pop_label();
}

void push(const EventAttributes* event) {
  if (!event || !event->message)
    push("");
  else if (event->messageType == kAscii)
    push(static_cast<const char*>(event->message));
  else if (event->messageType == kWide)
    push(narrow(static_cast<const wchar_t*>(event->message)).c_str());
  else
    push(event->messageType == kRegistered ? strings().find(event->message).c_str() : "");
}

// The functions of the user's tool; null without one.
int (*nextPushEx)(const EventAttributes*);
int (*nextPushA)(const char*);
int (*nextPushW)(const wchar_t*);
int (*nextPop)();
int (*nextDomainPushEx)(void*, const EventAttributes*);
int (*nextDomainPop)(void*);
const void* (*nextRegisterA)(void*, const char*);
const void* (*nextRegisterW)(void*, const wchar_t*);

int pushEx(const EventAttributes* event) {
  push(event);
  return nextPushEx ? nextPushEx(event) : kNoTracking;
}
int pushA(const char* message) {
  push(message);
  return nextPushA ? nextPushA(message) : kNoTracking;
}
int pushW(const wchar_t* message) {
  push(narrow(message).c_str());
  return nextPushW ? nextPushW(message) : kNoTracking;
}
int popRange() {
  const int level = nextPop ? nextPop() : kNoTracking;
  pop();
  return level;
}
int domainPushEx(void* domain, const EventAttributes* event) {
  push(event);
  return nextDomainPushEx ? nextDomainPushEx(domain, event) : kNoTracking;
}
int domainPop(void* domain) {
  const int level = nextDomainPop ? nextDomainPop(domain) : kNoTracking;
  pop();
  return level;
}
const void* registered(const void* handle, bool hasTool, const std::string& text) {
  if (!hasTool)
    return strings().addOwn(text);
  strings().add(handle, text);
  return handle;
}
const void* registerA(void* domain, const char* text) {
  return registered(nextRegisterA ? nextRegisterA(domain, text) : nullptr, nextRegisterA,
                    text ? text : "");
}
const void* registerW(void* domain, const wchar_t* text) {
  return registered(nextRegisterW ? nextRegisterW(domain, text) : nullptr, nextRegisterW,
                    narrow(text));
}

/// Pointers of one NVTX. Another one in the process, whose tool has other functions, is left to the
/// tool.
class Functions {
public:
  /// Before the tool sets any: each leads to what starts NVTX.
  Functions(const CallbacksTable& callbacks, uint32_t module) {
    if (!callbacks.functionTable(module, &table_, &count_))
      count_ = 0;
    for (uint32_t number = 0; number < count_ && number < kMost; ++number)
      untouched_[number] = table_[number] ? *table_[number] : nullptr;
  }

  template <typename Function> void wrap(uint32_t number, Function own, Function& next) {
    if (number >= count_ || !table_[number])
      return;
    const Slot now = *table_[number];
    const auto found = now == untouched_[number] ? nullptr : reinterpret_cast<Function>(now);
    if (hasWrapped && found != next)
      return;
    next = found;
    *table_[number] = reinterpret_cast<Slot>(own);
  }

  static inline bool hasWrapped = false;

private:
  static constexpr uint32_t kMost = 16; ///< above all numbers of ours
  Slot** table_ = nullptr;
  uint32_t count_ = 0;
  Slot untouched_[kMost] = {};
};

/// The tool that the user has.
void startTool(ExportTable exportTable) {
  const char* const path = mneme::environmentValue("MNEME_NVTX_INJECTION");
  if (!path || !*path)
    return;
  void* const library = dlopen(path, RTLD_LAZY);
  const auto start =
      library ? reinterpret_cast<Initialize>(dlsym(library, "InitializeInjectionNvtx2")) : nullptr;
  if (start)
    start(exportTable);
}

std::mutex startMutex;

} // namespace

extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(ExportTable exportTable) {
  const std::lock_guard lock(startMutex);
  const auto* callbacks = static_cast<const CallbacksTable*>(exportTable(kCallbacksTable));
  if (!callbacks || callbacks->sizeBytes < sizeof(CallbacksTable))
    return 0;
  Functions core(*callbacks, kCoreModule);
  Functions domains(*callbacks, kDomainModule);
  startTool(exportTable);
  core.wrap(kRangePushEx, pushEx, nextPushEx);
  core.wrap(kRangePushA, pushA, nextPushA);
  core.wrap(kRangePushW, pushW, nextPushW);
  core.wrap(kRangePop, popRange, nextPop);
  domains.wrap(kDomainRangePushEx, domainPushEx, nextDomainPushEx);
  domains.wrap(kDomainRangePop, domainPop, nextDomainPop);
  domains.wrap(kRegisterStringA, registerA, nextRegisterA);
  domains.wrap(kRegisterStringW, registerW, nextRegisterW);
  Functions::hasWrapped = true;
  return 1;
}
