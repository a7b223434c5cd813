#include "runtime/emulator/runtimes/cuda/static_runtime_lookup.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/emulator/runtimes/cuda/jump.h"

namespace mneme::cpu_runtime::cuda {
namespace {

constexpr const char* kProgram = "/proc/self/exe";

/// Whether the object has the file's segments, and the code of its runtime or a jump in its place.
bool isLoadedFrom(const LoadedObject& object, const StaticRuntimeFile& file) {
  return object.hasSegments(file.segments) &&
         std::ranges::all_of(file.functions, [&](const RuntimeFunction& function) {
           const uintptr_t address = object.base() + function.start;
           const size_t bytes = std::min<uint64_t>(function.bytes, function.code.size());
           const void* const code = reinterpret_cast<const void*>(address);
           return !object.isCode(address, function.code.size()) || isJump(code) ||
                  std::memcmp(code, function.code.data(), bytes) == 0;
         });
}

/// Returns names of the file that is mapped at this address. The first one, which needs a
/// privilege, is right also for a file that was removed or replaced.
std::vector<std::string> mappedAt(uintptr_t address) {
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                   &std::fclose);
  char* line = nullptr;
  const std::unique_ptr<char*, void (*)(char**)> kept(&line, [](char** text) { std::free(*text); });
  size_t bytes = 0;
  for (ssize_t length = 0; maps && (length = getline(&line, &bytes, maps.get())) > 0;) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line, "%lx-%lx", &begin, &end) != 2 || address < begin || address >= end)
      continue;
    std::string path(line, static_cast<size_t>(length) - 1);
    path.erase(0, std::min(path.find('/'), path.size()));
    char link[64];
    std::snprintf(link, sizeof link, "/proc/self/map_files/%lx-%lx", begin, end);
    return {link, path};
  }
  return {};
}

} // namespace

std::optional<StaticRuntimeFile> findStaticRuntime(const LoadedObject& object) {
  StaticRuntimeFile file =
      readStaticRuntime(object.path().empty() ? kProgram : std::string(object.path()));
  if (isLoadedFrom(object, file))
    return file;
  for (const std::string& path : mappedAt(object.extent().first))
    if (file = readStaticRuntime(path); isLoadedFrom(object, file))
      return file;
  return std::nullopt;
}

} // namespace mneme::cpu_runtime::cuda
