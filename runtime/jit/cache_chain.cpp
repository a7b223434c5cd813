#include "runtime/jit/cache_chain.h"

#include "runtime/jit/cache_report.h"

namespace mneme::jit {
namespace {

constexpr const char* kPrefix = "[ObjectCacheChain] ";

} // namespace

const char* nameOf(CacheLevel::Kind kind) noexcept {
  switch (kind) {
  case CacheLevel::Kind::Storage:
    return "Storage";
  case CacheLevel::Kind::MpiLocal:
    return "MPILocalLookup";
  case CacheLevel::Kind::MpiRemote:
    return "MPIRemoteLookup";
  case CacheLevel::Kind::Site:
    return "Site";
  }
  return "";
}

std::vector<std::string> reportNames(const Settings& settings) {
  std::vector<std::string> names;
  for (const CacheLevel& level : settings.cacheLevels) {
    const bool isOfJob =
        level.kind == CacheLevel::Kind::MpiLocal || level.kind == CacheLevel::Kind::MpiRemote;
    names.push_back(std::string(nameOf(level.kind)) + (isOfJob ? "" : "Cache") + " rank " +
                    (isOfJob ? settings.jobRank : rankText()));
  }
  return names;
}

std::string chainLines(const Settings& settings, const std::string& label) {
  std::string added, chain;
  for (const CacheLevel& level : settings.cacheLevels) {
    added += kPrefix + std::string("Added cache level: ") + level.given + "\n";
    chain += (chain.empty() ? "" : " -> ") + std::string(nameOf(level.kind));
  }
  if (chain.empty())
    return "";
  return added + kPrefix + "Chain for " + label + ": " + chain + "\n";
}

std::string hitLine(const Settings& settings, size_t level, uint64_t hash) {
  return std::string(kPrefix) + "Hit at level " + std::to_string(level) + " (" +
         nameOf(settings.cacheLevels.at(level).kind) + ") for hash " + std::to_string(hash) + "\n";
}

} // namespace mneme::jit
