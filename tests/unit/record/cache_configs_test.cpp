#include "runtime/recorder/cache_configs.h"

#include <doctest/doctest.h>

using namespace mneme;
using namespace mneme::record;

TEST_CASE("what a program prefers of the cache is known by kernel and context") {
  int kernel = 0, other = 0, context = 0;
  const WorkPlace own(0, &context);
  CacheConfigs configs;
  configs.note(0, &kernel, CacheConfig::L1, false);
  CHECK(configs.of(0, &kernel) == CacheConfig::L1);
  CHECK(configs.of(0, &other) == CacheConfig::None);
  CHECK(configs.of(own, &kernel) == CacheConfig::None);
  CHECK(configs.of(1, &kernel) == CacheConfig::None);
  configs.note(0, &kernel, CacheConfig::None, false);
  CHECK(configs.of(0, &kernel) == CacheConfig::None);
}

TEST_CASE("what is preferred on a device counts where a context has nothing of its own") {
  int kernel = 0, context = 0;
  const WorkPlace own(0, &context);
  CacheConfigs configs;
  configs.note(own, &kernel, CacheConfig::Equal, false);
  configs.note(0, &kernel, CacheConfig::Shared, true);
  CHECK(configs.of(own, &kernel) == CacheConfig::Equal);
  CHECK(configs.of(0, &kernel) == CacheConfig::Shared);
  configs.forgetIf([&](const WorkPlace& place, const void*) { return place.context == &context; });
  CHECK(configs.of(own, &kernel) == CacheConfig::Shared);
  configs.forgetIf([&](const WorkPlace&, const void* one) { return one == &kernel; });
  CHECK(configs.of(own, &kernel) == CacheConfig::None);
}
