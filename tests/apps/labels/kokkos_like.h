// Calls tools as Kokkos does: loads the first library of KOKKOS_TOOLS_LIBS and asks it for its
// functions.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace kokkos_like {

using Begin = void (*)(const char*, uint32_t, uint64_t*);
using End = void (*)(uint64_t);

inline void* library = nullptr;
inline bool needsFences = false;

template <class Function> Function find(const char* name) {
  return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}

inline void initialize() {
  const char* list = std::getenv("KOKKOS_TOOLS_LIBS");
  const std::string first(list ? list : "", list ? std::strcspn(list, ";") : 0);
  if (first.empty())
    return;
  library = dlopen(first.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    std::fprintf(stderr, "Error: Unable to load KokkosP library: %s\n", first.c_str());
  if (auto init = find<void (*)(int, uint64_t, uint32_t, void*)>("kokkosp_init_library"))
    init(0, 20240906, 0, nullptr);
  bool settings[256] = {library != nullptr};
  if (auto request = find<void (*)(uint32_t, bool*)>("kokkosp_request_tool_settings"))
    request(1, settings);
  needsFences = settings[0];
}

inline void finalize() {
  if (auto end = find<void (*)()>("kokkosp_finalize_library"))
    end();
}

template <class F> __global__ void parallel_kernel(int n, F f) {
  if (threadIdx.x < n)
    f(threadIdx.x);
}

template <class F> void parallel(const char* kind, const char* label, int n, F f) {
  uint64_t id = 0;
  if (auto begin = find<Begin>((std::string("kokkosp_begin_parallel_") + kind).c_str()))
    begin(label, 0, &id);
  parallel_kernel<<<1, 32>>>(n, f);
  if (auto end = find<End>((std::string("kokkosp_end_parallel_") + kind).c_str()))
    end(id);
}

} // namespace kokkos_like
