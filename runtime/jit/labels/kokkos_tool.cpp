// The tool that Kokkos loads: names of parallel loops and regions become labels of launches.
//
// Kokkos loads the first library that KOKKOS_TOOLS_LIBS names, and asks it for its functions by
// name. Where the user has a tool, ours is before it in that list. Functions that we do not need
// are the other tool's own: each of their names is an indirect function, for which the loader
// returns what the other tool has, or nothing. The others call the tool's.
#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "include/mneme/label.h"
#include "runtime/core/base/environment.h"

namespace {

using AnyFunction = void (*)();

constexpr const char* kListVariable = "KOKKOS_TOOLS_LIBS";
constexpr const char* kOldVariable = "KOKKOS_PROFILE_LIBRARY";
constexpr std::string_view kOwnFile = "libmneme_labels.so";

/// The list without us, which stand at its beginning.
std::string listAfterUs(const char* variable) {
  const char* const value = mneme::environmentValue(variable);
  const std::string_view list = value ? value : "";
  const size_t end = list.find(';');
  const std::string_view first = list.substr(0, end);
  if (!first.ends_with(kOwnFile) || end == std::string_view::npos)
    return "";
  return std::string(list.substr(end + 1));
}

struct NextTool {
  const char* variable = nullptr; ///< that names it
  std::string list;               ///< its value without us
  void* library = nullptr;
};

NextTool openNext() {
  NextTool next;
  for (const char* variable : {kListVariable, kOldVariable})
    if (next.list.empty()) {
      next.variable = variable;
      next.list = listAfterUs(variable);
    }
  const std::string name = next.list.substr(0, next.list.find(';'));
  if (name.empty())
    return next;
  next.library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!next.library) // as Kokkos reports it
    fprintf(stderr,
            "Error: Unable to load KokkosP library: %s\n"
            "dlopen(%s, RTLD_NOW | RTLD_GLOBAL) failed with %s\n",
            name.c_str(), name.c_str(), dlerror());
  return next;
}

const NextTool& nextTool() {
  static const NextTool next = openNext();
  return next;
}

template <typename Function = AnyFunction> Function toolFunction(const char* name) {
  void* const library = nextTool().library;
  return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}

/// Whether Kokkos made the name of the type, because the program gave none: the place of the kernel
/// tells more than "Z4mainEUliE_" and "(lambda at /src/app.cpp:12:3)".
bool isMadeFromType(const char* name) {
  if (std::strstr(name, "(lambda at ") || std::strstr(name, "'lambda"))
    return true;
  if (!(*name == 'N' || *name == 'Z' || (*name >= '0' && *name <= '9')))
    return false;
  const std::string type(name, std::strcspn(name, "/"));
  int status = -1;
  std::free(abi::__cxa_demangle(type.c_str(), nullptr, nullptr, &status));
  return status == 0;
}

/// Each begin has an end, so there is a label even where it says nothing.
void push(const char* name) {
  if (mneme_push_label)
    mneme_push_label(name && !isMadeFromType(name) ? name : "");
}

void pop() {
  if (mneme_pop_label)
    mneme_pop_label();
}

using Begin = void (*)(const char*, uint32_t, uint64_t*);
using End = void (*)(uint64_t);

void begin(Begin next, const char* name, uint32_t device, uint64_t* id) {
  push(name);
  if (next)
    next(name, device, id);
}

void end(End next, uint64_t id) {
  if (next)
    next(id);
  pop();
}

/// Kernels of Kokkos need not end before the next one begins. The settings begin with that flag.
void needsNoFences(uint32_t, bool* settings) { settings[0] = false; }

} // namespace

#define MNEME_TOOL_API extern "C" [[gnu::visibility("default")]]

/// The tool finds the list that it would find alone: some load what stands behind them in it.
MNEME_TOOL_API void kokkosp_init_library(int sequence, uint64_t version, uint32_t deviceCount,
                                         void* devices) {
  using Init = void (*)(int, uint64_t, uint32_t, void*);
  const auto next = toolFunction<Init>("kokkosp_init_library");
  if (!next)
    return;
  const NextTool& tool = nextTool();
  const char* const value = mneme::environmentValue(tool.variable);
  const std::string before = value ? value : "";
  setenv(tool.variable, tool.list.c_str(), 1);
  next(sequence, version, deviceCount, devices);
  setenv(tool.variable, before.c_str(), 1);
}

#define MNEME_LOOP(kind)                                                                           \
  MNEME_TOOL_API void kokkosp_begin_parallel_##kind(const char* name, uint32_t device,             \
                                                    uint64_t* id) {                                \
    static const auto next = toolFunction<Begin>("kokkosp_begin_parallel_" #kind);                 \
    begin(next, name, device, id);                                                                 \
  }                                                                                                \
  MNEME_TOOL_API void kokkosp_end_parallel_##kind(uint64_t id) {                                   \
    static const auto next = toolFunction<End>("kokkosp_end_parallel_" #kind);                     \
    end(next, id);                                                                                 \
  }
MNEME_LOOP(for)
MNEME_LOOP(reduce)
MNEME_LOOP(scan)

MNEME_TOOL_API void kokkosp_push_profile_region(const char* name) {
  static const auto next = toolFunction<void (*)(const char*)>("kokkosp_push_profile_region");
  push(name);
  if (next)
    next(name);
}

MNEME_TOOL_API void kokkosp_pop_profile_region() {
  static const auto next = toolFunction<void (*)()>("kokkosp_pop_profile_region");
  if (next)
    next();
  pop();
}

extern "C" AnyFunction mneme_find_request_tool_settings() {
  return nextTool().library ? toolFunction("kokkosp_request_tool_settings")
                            : reinterpret_cast<AnyFunction>(needsNoFences);
}
MNEME_TOOL_API void kokkosp_request_tool_settings()
    __attribute__((ifunc("mneme_find_request_tool_settings")));

#define MNEME_FORWARDED(name)                                                                      \
  extern "C" AnyFunction mneme_find_##name() { return toolFunction("kokkosp_" #name); }            \
  MNEME_TOOL_API void kokkosp_##name() __attribute__((ifunc("mneme_find_" #name)));
MNEME_FORWARDED(finalize_library)
MNEME_FORWARDED(parse_args)
MNEME_FORWARDED(print_help)
MNEME_FORWARDED(allocate_data)
MNEME_FORWARDED(deallocate_data)
MNEME_FORWARDED(begin_deep_copy)
MNEME_FORWARDED(end_deep_copy)
MNEME_FORWARDED(begin_fence)
MNEME_FORWARDED(end_fence)
MNEME_FORWARDED(dual_view_sync)
MNEME_FORWARDED(dual_view_modify)
MNEME_FORWARDED(declare_metadata)
MNEME_FORWARDED(create_profile_section)
MNEME_FORWARDED(start_profile_section)
MNEME_FORWARDED(stop_profile_section)
MNEME_FORWARDED(destroy_profile_section)
MNEME_FORWARDED(profile_event)
MNEME_FORWARDED(provide_tool_programming_interface)
MNEME_FORWARDED(declare_output_type)
MNEME_FORWARDED(declare_input_type)
MNEME_FORWARDED(declare_optimization_goal)
MNEME_FORWARDED(request_values)
MNEME_FORWARDED(begin_context)
MNEME_FORWARDED(end_context)
