#include "runtime/compiler/service/library_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "runtime/core/base/dynamic_library.h"
#include "runtime/core/base/elf_file.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/hash.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mneme::compile {
namespace {

constexpr const char* kLibraryName = "libmneme_compile.so";
constexpr const char* kPluginLibraryName = "libmneme_compile_plugins.so";
constexpr const char* kProgramName = "mneme-jit-compile";
constexpr uint64_t kMaxNoteBytes = 4096;
constexpr uint64_t kMostBytes = 1 << 20; // of a table

std::string buildId(const UniqueFd& library) {
  const auto file = elf::File::of(library, kMostBytes);
  if (!file)
    return {};
  for (const Elf64_Phdr& segment : file->segments().value_or(std::vector<Elf64_Phdr>())) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNoteBytes)
      continue;
    const Bytes notes = file->content(segment).value_or(Bytes());
    const Bytes id = elf::findNote(notes, "GNU", NT_GNU_BUILD_ID).value_or(Bytes());
    if (!id.empty())
      return {reinterpret_cast<const char*>(id.data()), id.size()};
  }
  return {};
}

std::string describeHost() {
  std::string text;
#if defined(__x86_64__)
  const auto append = [&](unsigned leaf, unsigned subleaf, const unsigned (&masks)[4]) {
    unsigned registers[4] = {};
    if (!__get_cpuid_count(leaf, subleaf, &registers[0], &registers[1], &registers[2],
                           &registers[3]))
      return;
    for (unsigned index = 0; index < 4; ++index) {
      const unsigned kept = registers[index] & masks[index];
      text.append(reinterpret_cast<const char*>(&kept), sizeof kept);
    }
  };
  constexpr unsigned all[4] = {~0u, ~0u, ~0u, ~0u};
  // Leaf 1's second register holds the number of the core this runs on.
  constexpr unsigned withoutCore[4] = {~0u, 0, ~0u, ~0u};
  append(0, 0, all);
  append(1, 0, withoutCore);
  append(7, 0, all);
  append(7, 1, all);
  append(0x80000001, 0, withoutCore);
  for (unsigned leaf = 0x80000002; leaf <= 0x80000004; ++leaf)
    append(leaf, 0, all);
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE)) {
    unsigned low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    text.append(reinterpret_cast<const char*>(&low), sizeof low);
  }
#else
  UniqueFd file(open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  const ssize_t count = file ? read(file.get(), buffer, sizeof buffer) : 0;
  text.assign(buffer, count > 0 ? static_cast<size_t>(count) : 0);
  text = text.substr(0, text.find("\n\n"));
#endif
  return toHex(hash128(std::as_bytes(std::span(text.data(), text.size()))));
}

} // namespace

std::string compileLibraryPath() {
  if (const char* path = environmentValue("MNEME_COMPILE_LIBRARY"); path && *path)
    return path;
  const std::string here = directoryOfCode(reinterpret_cast<const void*>(&compileLibraryPath));
  const std::string beside = here + "/" + kLibraryName;
  for (const std::string& path :
       {beside, here + "/lib/" + kLibraryName, here + "/../lib/" + kLibraryName,
        here + "/../../../" + kLibraryName})
    if (access(path.c_str(), R_OK) == 0)
      return path;
  return beside;
}

std::string pluginLibraryPath() {
  const std::string library = compileLibraryPath();
  const std::string beside = library.substr(0, library.rfind('/') + 1) + kPluginLibraryName;
  return access(beside.c_str(), R_OK) == 0 ? beside : library;
}

std::string compileProgramPath() {
  if (const char* path = environmentValue("MNEME_COMPILE_PROGRAM"); path && *path)
    return path;
  const std::string library = compileLibraryPath();
  const size_t slash = library.rfind('/');
  const std::string beside = slash == std::string::npos ? "." : library.substr(0, slash);
  const std::string here = directoryOfCode(reinterpret_cast<const void*>(&compileLibraryPath));
  for (const std::string& directory : {beside, here, here + "/../../.."})
    for (const char* relative : {"/", "/../bin/"})
      if (const std::string path = directory + relative + kProgramName;
          access(path.c_str(), X_OK) == 0)
        return path;
  return {};
}

std::string libraryIdentity(const std::string& path) {
  UniqueFd file;
  try {
    file = openRegularFile(path);
  } catch (const Error&) { // the caller says what to do
    return {};
  }
  if (std::string id = buildId(file); !id.empty())
    return id;
  struct stat status = {};
  if (fstat(file.get(), &status) != 0)
    return {};
  return std::to_string(status.st_size) + "@" + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

std::string compilerIdentity(const std::string& library) {
  const std::string identity = libraryIdentity(library);
  const char* program = environmentValue("MNEME_COMPILE_PROGRAM");
  const std::string other = program && *program ? libraryIdentity(program) : std::string();
  return identity.empty() || other.empty() ? identity : identity + "+" + other;
}

const std::string& hostIdentity() {
  static const auto& identity = *new std::string(describeHost()); // static destructors may ask
  return identity;
}

} // namespace mneme::compile
