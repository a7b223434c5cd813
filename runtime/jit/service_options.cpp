#include "runtime/jit/service_options.h"

#include "runtime/base/start_directory.h"
#include "runtime/jit/cache_chain.h"
#include "runtime/jit/refusal.h"

namespace mneme::jit {

void completeLevels(Settings& settings) {
  if (!settings.cacheDirectory.empty())
    settings.cacheDirectory = startDirectory() / settings.cacheDirectory;
  for (std::filesystem::path& directory : settings.siteDirectories)
    directory = startDirectory() / directory;
  if (!settings.hasMarks)
    return;
  for (const CacheLevel& level : settings.cacheLevels)
    if (level.kind == CacheLevel::Kind::MpiLocal || level.kind == CacheLevel::Kind::MpiRemote)
      refuse((nameOf(level.kind) + std::string("Cache requested but Proteus built without MPI"))
                 .c_str());
}

compile::ServiceOptions serviceOptions(const Settings& settings) {
  compile::ServiceOptions options{.cacheDirectory = settings.cacheDirectory,
                                  .cacheBytes = settings.cacheBytes,
                                  .levels = {},
                                  .timeoutSeconds = settings.timeoutSeconds};
  for (const CacheLevel& level : settings.cacheLevels)
    if (level.kind == CacheLevel::Kind::Site)
      options.levels.push_back(
          {compile::CacheLevel::Kind::Site, nullptr, settings.siteDirectories});
    else
      options.levels.push_back({});
  return options;
}

} // namespace mneme::jit
