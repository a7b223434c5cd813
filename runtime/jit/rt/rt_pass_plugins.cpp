// Keeps the pass plugins that the program registers. Memory comes from malloc; without any the list
// stays as it was.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/abi/mneme_jit_plugins.h"

namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
mneme_pass_plugins* all = nullptr;     ///< guarded by `lock`
mneme_pass_plugins* present = nullptr; ///< guarded by `lock` for writing

bool isSame(const mneme_pass_plugin& left, const mneme_pass_plugin& right) {
  return strcmp(left.path, right.path) == 0 && strcmp(left.pipeline, right.pipeline) == 0;
}

uint64_t countOf(const mneme_pass_plugins* list) { return list ? list->count : 0; }

/// Whether `list` is what `present` becomes with `added`.
bool isExtended(const mneme_pass_plugins& list, const mneme_pass_plugin& added) {
  if (list.count != countOf(present) + 1 || !isSame(list.plugins[list.count - 1], added))
    return false;
  for (uint64_t index = 0; index + 1 < list.count; ++index)
    if (!isSame(list.plugins[index], present->plugins[index]))
      return false;
  return true;
}

mneme_pass_plugins* makeExtended(const mneme_pass_plugin& added) {
  const uint64_t count = countOf(present);
  auto* list = static_cast<mneme_pass_plugins*>(malloc(sizeof(mneme_pass_plugins)));
  auto* plugins = static_cast<mneme_pass_plugin*>(malloc((count + 1) * sizeof(mneme_pass_plugin)));
  char* path = strdup(added.path);
  char* pipeline = strdup(added.pipeline);
  if (!list || !plugins || !path || !pipeline) {
    free(list);
    free(plugins);
    free(path);
    free(pipeline);
    return nullptr;
  }
  if (count > 0)
    memcpy(plugins, present->plugins, count * sizeof(mneme_pass_plugin));
  plugins[count] = {path, pipeline};
  *list = {all, count + 1, plugins};
  return all = list;
}

void add(const mneme_pass_plugin& added) {
  for (uint64_t index = 0; index < countOf(present); ++index)
    if (isSame(present->plugins[index], added))
      return;
  mneme_pass_plugins* list = all;
  while (list && !isExtended(*list, added))
    list = list->older;
  if (!list)
    list = makeExtended(added);
  if (list)
    __atomic_store_n(&present, list, __ATOMIC_RELEASE);
}

} // namespace

void mneme_jit_add_pass_plugin(const char* path, const char* pipeline) {
  pthread_mutex_lock(&lock);
  add({path, pipeline});
  pthread_mutex_unlock(&lock);
}

void mneme_jit_clear_pass_plugins(void) {
  pthread_mutex_lock(&lock);
  __atomic_store_n(&present, nullptr, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
}

const mneme_pass_plugins* mneme_jit_pass_plugins(void) {
  return __atomic_load_n(&present, __ATOMIC_ACQUIRE);
}
