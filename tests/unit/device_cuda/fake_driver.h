// A libcuda.so.1 without a GPU: memory is mmap'ed at the asked addresses, copies and kernels wait
// in one queue until somebody synchronises, kernels do what their names say. MNEME_FAKE_CUDA
// ("cuMemCreate=2,cuInit=100") makes calls fail with a code.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/devices/cuda/driver_types.h"

namespace fake {

using namespace mneme::device::cuda;

constexpr size_t pageBytes = 2 << 20;
constexpr size_t blockBytes = 32 << 20;
constexpr size_t totalBytes = size_t{1} << 30;

struct Variable {
  CUdeviceptr address = 0;
  size_t sizeBytes = 0;
};

/// One for each image that is loaded. Lines ".variable NAME BYTES" in it make variables.
struct Module {
  std::map<std::string, Variable> variables;
  std::vector<std::unique_ptr<char[]>> storage;
  bool isLoaded = true;
};

struct Function {
  std::string name;
  int registers = 32;
  int maxThreads = 1024;
  int requiredCluster = 0;
  Module* module = nullptr;
  std::map<int, int> attributes = {{8, 48 << 10}, {9, -1}};
};

/// A launch, with what the variables of its module hold when it runs.
struct Seen {
  std::string kernel;
  CUlaunchConfig config;
  std::vector<CUlaunchAttribute> attributes;
  std::map<std::string, std::string> variables;
};

/// A kernel, or a graph in a graph.
struct GraphNode {
  CUkernelNodeParams kernel;
  CUlaunchAttributeValue cooperative{}, cluster{}, updatable{};
  std::vector<GraphNode> child;
};

/// The program around a library that works inside it, and what the driver saw of that library.
/// Tests find it as fakeApplication().
struct Application {
  bool isCapturing = false;     ///< every stream but the legacy one
  std::vector<GraphNode> graph; ///< a graph's handle is the address of its nodes
  unsigned long long graphFlags = 0;
  std::vector<std::pair<CUgraphNode, CUkernelNodeParams>> replaced; ///< in executable graphs
  CUcontext current = nullptr; ///< of every thread that pushed none
  CUdevice device = 0;
  unsigned long long lives[2] = {100, 200}; ///< ids of the primary contexts
  int captureMode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  int greenContexts = 0;              ///< that exist
  std::vector<int> modesOfLoads;      ///< capture mode of the thread at each load
  std::map<int, uint64_t> jitOptions; ///< of the last load, without those of logs
  std::vector<Seen> launches;         ///< in the order they ran in
  std::vector<Module*> modules;
};

inline CUcontext primaryOf(CUdevice device) {
  return reinterpret_cast<CUcontext>(uintptr_t(0x1000) + device);
}

struct State {
  std::recursive_mutex mutex;
  std::vector<std::unique_ptr<Module>> modules; ///< all that were ever made
  std::vector<std::unique_ptr<Function>> functions;
  CUresult sticky = CUDA_SUCCESS;
  bool isHung = false;
  std::deque<std::function<CUresult()>> queue;
  uint64_t queued = 0, done = 0;
  std::map<const char*, size_t> pinned;
  std::map<uint64_t, size_t> mapped, reserved;
  std::map<uint64_t, size_t> handles;
  uint64_t nextHandle = 1;
  size_t usedBytes = 0;
};

inline State& state() {
  static State* instance = new State();
  return *instance;
}

extern Application application;
inline thread_local int depth = 0;
inline bool hasContext() { return depth > 0 || application.current; }

/// The code MNEME_FAKE_CUDA wants of this call, the sticky one after that, else success.
inline CUresult verdict(const char* call) {
  if (const char* wanted = getenv("MNEME_FAKE_CUDA")) {
    const std::string text = std::string(",") + wanted;
    const std::string key = std::string(",") + call + "=";
    if (const size_t at = text.find(key); at != std::string::npos)
      return static_cast<CUresult>(atoi(text.c_str() + at + key.size()));
  }
  return state().sticky;
}

[[noreturn]] inline void wouldHang(const char* call) {
  fprintf(stderr, "fake CUDA: %s would wait for a kernel that never ends\n", call);
  abort();
}

/// Runs the queue up to `end`; false when a hung kernel is in the way.
inline bool drain(uint64_t end) {
  State& s = state();
  while (s.done < end && !s.isHung) {
    const auto action = std::move(s.queue.front());
    s.queue.pop_front();
    ++s.done;
    if (s.sticky == CUDA_SUCCESS)
      s.sticky = action();
  }
  return s.done >= end;
}

inline CUresult enqueue(std::function<CUresult()> action) {
  State& s = state();
  s.queue.push_back(std::move(action));
  ++s.queued;
  return CUDA_SUCCESS;
}

inline bool isPinned(const void* pointer) {
  const auto* address = static_cast<const char*>(pointer);
  auto found = state().pinned.upper_bound(address);
  return found != state().pinned.begin() && (--found, address < found->first + found->second);
}

inline CUresult copy(void* destination, const void* source, size_t size) {
  if (!hasContext())
    return CUDA_ERROR_INVALID_CONTEXT;
  return enqueue([=] {
    memmove(destination, source, size);
    return CUDA_SUCCESS;
  });
}

inline void* pointerTo(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

} // namespace fake

#define FAKE(name, ...) extern "C" __attribute__((visibility("default"))) CUresult name(__VA_ARGS__)
#define GUARD(name)                                                                                \
  const std::lock_guard lock(state().mutex);                                                       \
  if (const CUresult code = verdict(name); code != CUDA_SUCCESS)                                   \
  return code
