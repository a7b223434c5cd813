#include "runtime/jit/cache_report.h"

#include "runtime/core/base/environment.h"

namespace mneme::jit {

std::string rankText() {
  for (const char* name :
       {"PMI_RANK", "MPI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PBS_TASKNUM"})
    if (const char* value = environmentValue(name); value && *value)
      return value;
  return "0";
}

CacheReport::Entry& CacheReport::entry(uint64_t hash, const std::string& symbol,
                                       const std::string& readable) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Entry>& entry = entries_[hash];
  if (!entry) {
    entry = std::make_unique<Entry>();
    entry->symbol = symbol;
    entry->readable = readable;
  }
  return *entry;
}

void CacheReport::countStored(size_t foundIn) noexcept {
  for (size_t index = 0; index < levels_.size() && index <= foundIn; ++index) {
    levels_[index].accesses.fetch_add(1, std::memory_order_relaxed);
    if (index == foundIn)
      levels_[index].hits.fetch_add(1, std::memory_order_relaxed);
  }
}

std::string CacheReport::counts(bool withNames) const {
  const std::string rank = "MemoryCache rank " + rankText();
  uint64_t uses = 0;
  std::string each;
  for (const auto& [hash, entry] : entries_) {
    const uint64_t count = entry->uses;
    uses += count;
    if (count > 0)
      each += line(rank + " HashValue " + std::to_string(hash) + " NumExecs " +
                   std::to_string(count) + " NumHits " + std::to_string(count - 1) +
                   (withNames ? " FnName " + entry->symbol : ""));
  }
  // Each was missed once, at its first use.
  uint64_t misses = 0;
  for (const auto& [hash, entry] : entries_)
    misses += entry->uses > 0 ? 1 : 0;
  return line(rank + " hits " + std::to_string(uses - misses) + " accesses " +
              std::to_string(uses)) +
         each;
}

std::string CacheReport::kernels() const {
  struct Kernel {
    uint64_t specializations = 0, launches = 0;
  };
  std::map<std::string, Kernel> kernels;
  for (const auto& [hash, entry] : entries_)
    if (const uint64_t uses = entry->uses; uses > 0 && !entry->readable.empty()) {
      Kernel& kernel = kernels[entry->readable];
      ++kernel.specializations;
      kernel.launches += countsLaunches_ ? entry->launches.load() : uses;
    }
  if (kernels.empty())
    return "";
  const std::string rank = rankText();
  std::string text = line("=== Kernel Trace (rank " + rank + ") ===");
  for (const auto& [name, kernel] : kernels)
    text += line("  " + name + "  rank=" + rank +
                 "  specializations=" + std::to_string(kernel.specializations) +
                 "  launches=" + std::to_string(kernel.launches));
  return text + line("=== End Kernel Trace ===");
}

std::string CacheReport::text(const Wanted& wanted) const {
  const std::lock_guard lock(mutex_);
  std::string text;
  if (wanted.counts)
    text += counts(wanted.functionNames);
  if (wanted.kernels)
    text += kernels();
  if (wanted.counts && !levels_.empty()) {
    text += line("ObjectCacheChain rank " + rankText() + " with " + std::to_string(levels_.size()) +
                 " level(s):");
    for (const Level& level : levels_)
      text += line(level.name + " hits " + std::to_string(level.hits) + " accesses " +
                   std::to_string(level.accesses));
  }
  return text;
}

} // namespace mneme::jit
