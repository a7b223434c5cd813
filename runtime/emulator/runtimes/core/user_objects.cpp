// User objects: something of the application's that is destroyed with the last reference to it, of
// the application or of a graph.
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_nodes.h"
#include "runtime/emulator/runtimes/core/handle_table.h"

namespace mneme::cpu_runtime {
namespace {

constexpr unsigned kNoDestructorSync = 1; // the only, and mandatory, flag
constexpr unsigned kMove = 1;             // the graph takes over references of the caller

struct UserObject {
  void* pointer;
  void (*destroy)(void*);
  unsigned count;
};

HandleTable<UserObject>& objects() {
  static auto* table = new HandleTable<UserObject>;
  return *table;
}

Status checked(bool isDone) { return isDone ? Status::Success : Status::InvalidValue; }

} // namespace

bool retainUserObject(void* handle, unsigned count) {
  const std::lock_guard lock(graphLock());
  const auto object = objects().find(handle);
  if (!object || count == 0)
    return false;
  object->count += count;
  return true;
}

bool releaseUserObject(void* handle, unsigned count) {
  const std::lock_guard lock(graphLock());
  const auto object = objects().find(handle);
  if (!object || count == 0 || count > object->count)
    return false;
  object->count -= count;
  if (object->count == 0) {
    objects().remove(handle);
    object->destroy(object->pointer);
  }
  return true;
}

} // namespace mneme::cpu_runtime

using namespace mneme::cpu_runtime;

MNEME_RUNTIME_API Status gpuUserObjectCreate(void** object, void* pointer, void (*destroy)(void*),
                                             unsigned count, unsigned flags) {
  return withGraphs([&] {
    if (!object || !destroy || count == 0 || flags != kNoDestructorSync)
      return Status::InvalidValue;
    *object = objects().add(std::make_shared<UserObject>(UserObject{pointer, destroy, count}));
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuUserObjectRetain(void* object, unsigned count) {
  return withGraphs([&] { return checked(retainUserObject(object, count)); });
}

MNEME_RUNTIME_API Status gpuUserObjectRelease(void* object, unsigned count) {
  return withGraphs([&] { return checked(releaseUserObject(object, count)); });
}

MNEME_RUNTIME_API Status gpuGraphRetainUserObject(void* handle, void* object, unsigned count,
                                                  unsigned flags) {
  return withGraphs([&] {
    const auto graph = findGraph(handle);
    if (!graph || flags > kMove || !objects().find(object) || count == 0)
      return Status::InvalidValue;
    if (flags != kMove)
      retainUserObject(object, count);
    graph->userObjects[object] += count;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGraphReleaseUserObject(void* handle, void* object, unsigned count) {
  return withGraphs([&] {
    const auto graph = findGraph(handle);
    if (!graph)
      return Status::InvalidValue;
    const auto held = graph->userObjects.find(object);
    if (held == graph->userObjects.end() || held->second < count || count == 0)
      return Status::InvalidValue;
    if ((held->second -= count) == 0)
      graph->userObjects.erase(held);
    return checked(releaseUserObject(object, count));
  });
}
