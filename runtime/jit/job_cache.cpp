#include "runtime/jit/job_cache.h"

#include <algorithm>
#include <mutex>

#include <dlfcn.h>
#include <unistd.h>

#include "runtime/compiler/service/disk_cache.h"
#include "runtime/core/abi/mneme_jit_mpi.h"
#include "runtime/core/base/dynamic_library.h"
#include "runtime/core/base/error.h"
#include "runtime/jit/cache_chain.h"
#include "runtime/jit/refusal.h"

namespace mneme::jit {
namespace {

constexpr size_t kMaxVersionBytes = 8193; // MPI_MAX_LIBRARY_VERSION_STRING of any family

const mneme_jit_mpi* theComponent = nullptr;

class JobCache : public compile::SharedEntries {
public:
  explicit JobCache(bool asksRank0) : asksRank0_(asksRank0) {}

  std::vector<std::byte> read(const std::string& name) noexcept override {
    std::vector<std::byte> entry;
    theComponent->read(
        name.c_str(), asksRank0_,
        [](void* user, const void* bytes, size_t count) {
          const auto* begin = static_cast<const std::byte*>(bytes);
          static_cast<std::vector<std::byte>*>(user)->assign(begin, begin + count);
        },
        &entry);
    return entry;
  }
  void publish(const std::string& name, std::span<const std::byte> entry) noexcept override {
    theComponent->publish(name.c_str(), entry.data(), entry.size());
  }

private:
  const bool asksRank0_;
};

/// The component for the program's own MPI; any, if it has none. Empty if there is no such file.
std::string componentPath() {
  const std::string here = directoryOfCode(reinterpret_cast<const void*>(&componentPath));
  std::vector<std::string> families{"mpich", "openmpi"};
  using Version = int (*)(char*, int*);
  if (const auto version =
          reinterpret_cast<Version>(dlsym(RTLD_DEFAULT, "MPI_Get_library_version"))) {
    std::string text(kMaxVersionBytes, '\0');
    int length = 0;
    version(text.data(), &length);
    // All others have the ABI of MPICH.
    const bool isOpen = text.find("Open MPI") != std::string::npos ||
                        text.find("Spectrum MPI") != std::string::npos;
    families = {isOpen ? "openmpi" : "mpich"};
  }
  for (const std::string& family : families)
    if (const std::string path = here + "/libmneme_jit_mpi_" + family + ".so";
        access(path.c_str(), R_OK) == 0)
      return path;
  return {};
}

void start(const Settings& settings, const std::string& cache) {
  const std::string path = componentPath();
  if (path.empty())
    refuse((cache + " requested but Proteus built without MPI").c_str());
  const char* why = "needs a program with MPI";
  if (dlsym(RTLD_DEFAULT, "MPI_Initialized")) {
    // Never closed: its thread runs to the end.
    const auto& library = *new DynamicLibrary(DynamicLibrary::open(path));
    const auto begin =
        reinterpret_cast<decltype(&mneme_jit_mpi_start)>(library.symbol("mneme_jit_mpi_start"));
    const std::string place = compile::checkCacheDirectory(settings.cacheDirectory).place.string();
    const bool asksRank0 = std::ranges::count(settings.cacheLevels, CacheLevel::Kind::MpiRemote,
                                              &CacheLevel::kind) > 0;
    const mneme_jit_mpi_options options{MNEME_JIT_MPI_ABI, asksRank0, settings.mpiPollMilliseconds,
                                        place.c_str()};
    theComponent = begin(&options, &why);
  }
  if (!theComponent)
    refuse((cache + " " + why).c_str());
}

} // namespace

bool isOfJob(CacheLevel::Kind kind) noexcept {
  return kind == CacheLevel::Kind::MpiLocal || kind == CacheLevel::Kind::MpiRemote;
}

void startJobCache(Settings& settings) {
  const auto level = std::ranges::find_if(settings.cacheLevels, isOfJob, &CacheLevel::kind);
  if (level == settings.cacheLevels.end())
    return;
  const std::string cache = nameOf(level->kind) + std::string("Cache");
  static std::mutex mutex;
  const std::lock_guard lock(mutex); // engines for kernels and for functions start apart
  try {
    if (!theComponent)
      start(settings, cache);
  } catch (const Error& error) {
    refuse((cache + ": " + error.what()).c_str());
  }
  settings.jobRank = std::to_string(theComponent->rank) + "/" + std::to_string(theComponent->size);
}

compile::SharedEntries& jobCache(CacheLevel::Kind kind) {
  // Never destroyed: code may be looked for while the process ends.
  static auto& local = *new JobCache(false);
  static auto& remote = *new JobCache(true);
  return kind == CacheLevel::Kind::MpiRemote ? remote : local;
}

} // namespace mneme::jit
