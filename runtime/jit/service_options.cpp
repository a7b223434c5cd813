#include "runtime/jit/service_options.h"

#include "runtime/core/base/start_directory.h"
#include "runtime/jit/job_cache.h"

namespace mneme::jit {

void completeLevels(Settings& settings) {
  if (!settings.cacheDirectory.empty())
    settings.cacheDirectory = startDirectory() / settings.cacheDirectory;
  for (std::filesystem::path& directory : settings.siteDirectories)
    directory = startDirectory() / directory;
  if (settings.hasMarks) {
    startJobCache(settings);
    compile::prepareCacheDirectory(settings.cacheDirectory);
  } else { // tuned kernels have no names that only one rank finds
    std::erase_if(settings.cacheLevels,
                  [](const CacheLevel& level) { return isOfJob(level.kind); });
  }
}

compile::ServiceOptions serviceOptions(const Settings& settings) {
  compile::ServiceOptions options{.cacheDirectory = settings.cacheDirectory,
                                  .cacheBytes = settings.cacheBytes,
                                  .levels = {},
                                  .timeoutSeconds = settings.timeoutSeconds};
  using Kind = compile::CacheLevel::Kind;
  for (const CacheLevel& level : settings.cacheLevels)
    if (level.kind == CacheLevel::Kind::Site)
      options.levels.push_back({Kind::Site, nullptr, settings.siteDirectories});
    else if (isOfJob(level.kind))
      options.levels.push_back({Kind::Shared, &jobCache(level.kind), {}});
    else
      options.levels.push_back({});
  return options;
}

} // namespace mneme::jit
