// A tool of the user's: says what it is called with.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" void kokkosp_init_library(int, uint64_t, uint32_t, void*) {
  const char* list = std::getenv("KOKKOS_TOOLS_LIBS");
  std::printf("tool: init with %s\n", list ? list : "nothing");
}
extern "C" void kokkosp_begin_parallel_for(const char* name, uint32_t, uint64_t* id) {
  *id = 7;
  std::printf("tool: begin %s\n", name);
}
extern "C" void kokkosp_end_parallel_for(uint64_t id) {
  std::printf("tool: end %d\n", static_cast<int>(id));
}
extern "C" void kokkosp_finalize_library() { std::printf("tool: finalize\n"); }
