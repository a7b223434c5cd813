// Delays launches as a file says, so that a run shows which numbers of its output depend on speed.
// C library only.
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/base/environment.h"
#include "runtime/jit/rt/rt_launch.h"

namespace {

struct Delay {
  const char* kernel; ///< mangled name; in the text of the file, which stays
  uint64_t leastNs;
  uint64_t mostNs;
};

Delay* delays = nullptr;
size_t delayCount = 0;
uint64_t launchCount = 0;
const mneme_hooks* inner = nullptr; // who launches then; null: the vendor

uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

/// Sleeping ends 50 us late and later, so the last part is waited for.
void waitUntil(uint64_t end) {
  constexpr uint64_t kLateNs = 200000;
  for (uint64_t time = now(); time < end; time = now()) {
    if (end - time <= kLateNs)
      continue;
    const uint64_t rest = end - time - kLateNs;
    const timespec pause{static_cast<time_t>(rest / 1000000000u),
                         static_cast<long>(rest % 1000000000u)};
    nanosleep(&pause, nullptr);
  }
}

/// A number of 32 bits that looks like chance (Steele, Lea, Flood: SplitMix64, OOPSLA 2014).
uint64_t chance(uint64_t number) {
  number = (number + 1) * 0x9e3779b97f4a7c15u;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return (number ^ (number >> 31)) >> 32;
}

uint64_t delayOf(const mneme_launch& launch) {
  const mneme_module_entry* module = nullptr;
  const char* name = nullptr;
  if (!mneme_rt_find_kernel(launch.kernel, &module, &name))
    return 0;
  for (size_t index = 0; index < delayCount; ++index) {
    const Delay& delay = delays[index];
    if (strcmp(delay.kernel, name) != 0)
      continue;
    const uint64_t count = __atomic_fetch_add(&launchCount, 1, __ATOMIC_RELAXED);
    const double part = static_cast<double>(chance(count)) / 4294967296.0;
    return delay.leastNs +
           static_cast<uint64_t>(part * static_cast<double>(delay.mostNs - delay.leastNs));
  }
  return 0;
}

int delayedLaunch(void*, const mneme_launch* launch) {
  const uint64_t began = now();
  waitUntil(began + delayOf(*launch));
  return inner ? inner->launch(inner->user, launch) : mneme_rt_call_vendor(launch);
}

void moduleUnregistered(void*, const mneme_module_entry* module) {
  if (inner && inner->module_unregistered)
    inner->module_unregistered(inner->user, module);
}

constexpr mneme_hooks kDelaying{MNEME_RT_ABI, nullptr, delayedLaunch, moduleUnregistered};

/// All of a file, with a zero behind it; null if it cannot be read.
char* readText(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status{};
  char* text = nullptr;
  if (file >= 0 && fstat(file, &status) == 0)
    text = static_cast<char*>(malloc(static_cast<size_t>(status.st_size) + 1));
  const ssize_t bytes = text ? read(file, text, static_cast<size_t>(status.st_size)) : 0;
  if (text)
    text[bytes > 0 ? bytes : 0] = '\0';
  if (file >= 0)
    close(file);
  return text;
}

/// Takes a line of the file: least and most nanoseconds, and a kernel. Changes the text.
bool takeLine(char* line) {
  Delay delay{};
  int at = 0;
  if (sscanf(line, "%" SCNu64 " %" SCNu64 " %n", &delay.leastNs, &delay.mostNs, &at) != 2 || !at ||
      delay.mostNs < delay.leastNs)
    return false;
  delay.kernel = line + at;
  auto* more = static_cast<Delay*>(realloc(delays, (delayCount + 1) * sizeof(Delay)));
  if (!more)
    return false;
  delays = more;
  delays[delayCount++] = delay;
  return true;
}

} // namespace

const mneme_hooks* mneme::rt::withDelays(const mneme_hooks* hooks) {
  const char* path = environmentValue("MNEME_DELAYS");
  char* const text = path && *path ? readText(path) : nullptr;
  char* rest = nullptr;
  for (char* line = text ? strtok_r(text, "\n", &rest) : nullptr; line;
       line = strtok_r(nullptr, "\n", &rest))
    if (!takeLine(line))
      break;
  if (delayCount == 0)
    return hooks;
  inner = hooks;
  return &kDelaying;
}
