#include "runtime/recorder/sharing.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include "runtime/core/base/environment.h"
#include "runtime/recorder/loaded_symbols.h"
#include "runtime/recorder/own_references.h"

namespace mneme::record {
namespace {

/// Parts of the names of functions that make memory known to other processes, of all vendors; in
/// two halves, that they are not found in our own constants.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kExports = {
    {{"IpcGetMem", "Handle"}, {"MemPool", "Export"}}};

/// Constants of larger files are not searched.
constexpr size_t kMostSearched = 64ull << 20;

// By the beginnings of file names.
constexpr std::array<std::string_view, 5> kTransports = {"libucp.", "libuct_", "libnvshmem",
                                                         "librocshmem", "libmpi_gtl"};
constexpr std::array<std::string_view, 6> kParallel = {"libmpi",    "libopen-pal", "libmvapich",
                                                       "libfabric", "libpsm2",     "libpmpi"};
constexpr std::array<std::string_view, 4> kFrameworks = {"libtorch", "libc10", "libnccl",
                                                         "librccl"};

constexpr std::array kSizes = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",      "MPI_LOCALNRANKS",
                               "SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE", "JSM_NAMESPACE_SIZE",
                               "MV2_COMM_WORLD_SIZE",  "WORLD_SIZE",    "PALS_LOCAL_SIZE"};

bool holdsExport(std::string_view text) noexcept {
  for (const auto& [begin, end] : kExports)
    for (size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1))
      if (text.substr(at + begin.size()).starts_with(end))
        return true;
  return false;
}

bool namesExport(const dl_phdr_info& info) noexcept {
  for (unsigned index = 0; index < info.dlpi_phnum; ++index) {
    const ElfW(Phdr) & part = info.dlpi_phdr[index];
    const bool isConstant = part.p_type == PT_LOAD && (part.p_flags & PF_R) != 0 &&
                            (part.p_flags & PF_W) == 0 && part.p_filesz <= kMostSearched;
    if (isConstant &&
        holdsExport({reinterpret_cast<const char*>(info.dlpi_addr + part.p_vaddr), part.p_filesz}))
      return true;
  }
  return false;
}

/// A vendor's static runtime names such functions in every program into which it was linked. A
/// program that shares memory calls them, or has the runtime look them up.
bool isNamedByRuntimeAlone(const dl_phdr_info& program) {
  static const std::optional<bool> refers = refersToOwn(program, [](std::string_view name) {
    return holdsExport(name) || name.find("GetDriverEntryPoint") != name.npos;
  });
  return refers && !*refers;
}

bool beginsWithAny(std::string_view file, auto prefixes) noexcept {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return file.starts_with(prefix); });
}

std::string_view fileOf(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

struct Search {
  bool hasSeveralProcesses = false;
  unsigned long long known = 0;
  unsigned long long loads = 0;
  std::string sharer;
};

int look(dl_phdr_info* info, size_t, void* user) {
  auto& search = *static_cast<Search*>(user);
  search.loads = info->dlpi_adds;
  if (search.loads == search.known)
    return 1;
  LoadedObject object{info->dlpi_name, !info->dlpi_name || !*info->dlpi_name};
  object.importsExport = importsAny(*info, holdsExport);
  const SharerKind kind = sharerKindOf(object.path);
  if (object.isProgram)
    object.namesExport = namesExport(*info) && !isNamedByRuntimeAlone(*info);
  else if (kind == SharerKind::Parallel && search.hasSeveralProcesses)
    object.namesExport = namesExport(*info);
  if (!mayShare(object, search.hasSeveralProcesses))
    return 0;
  search.sharer = object.isProgram ? "the program" : "'" + std::string(fileOf(object.path)) + "'";
  return 1;
}

} // namespace

SharerKind sharerKindOf(const char* path) noexcept {
  const std::string_view file = fileOf(path ? path : "");
  if (beginsWithAny(file, kTransports))
    return SharerKind::Transport;
  if (beginsWithAny(file, kParallel))
    return SharerKind::Parallel;
  return beginsWithAny(file, kFrameworks) ? SharerKind::Framework : SharerKind::Any;
}

bool mayShare(const LoadedObject& object, bool hasSeveralProcesses) noexcept {
  if (object.isProgram)
    return object.importsExport || object.namesExport;
  switch (sharerKindOf(object.path)) {
  case SharerKind::Any:
    return object.importsExport;
  case SharerKind::Transport:
    return hasSeveralProcesses;
  case SharerKind::Parallel:
    return hasSeveralProcesses && (object.importsExport || object.namesExport);
  case SharerKind::Framework:
    return hasSeveralProcesses && object.importsExport;
  }
  return false;
}

bool Sharing::wasStartedWithOthers() noexcept {
  return std::ranges::any_of(kSizes, [](const char* name) {
    const char* text = environmentValue(name);
    return text && std::atoll(text) > 1;
  });
}

std::string Sharing::sharer() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (!sharer_.empty())
      return sharer_;
    Search search{hasSeveralProcesses_, loads_, 0, {}};
    dl_iterate_phdr(look, &search);
    loads_ = search.loads;
    sharer_ = search.sharer;
    return sharer_;
  } catch (const std::exception&) { // no memory: the application matters more
    return "";
  }
}

} // namespace mneme::record
