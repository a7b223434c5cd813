#include <doctest/doctest.h>

#include <tuple>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"

TEST_CASE("who asked hears of executable graphs that were made or updated, and only of those") {
  int exec = 0, graph = 0;
  void* made = &exec;
  static std::vector<std::tuple<uint32_t, void*, void*, uint32_t>> heard;
  mneme_graph_changed(0, MNEME_GRAPH_MADE, 0, &made, &graph); // nobody asked yet
  mneme_rt_set_graph_hook([](uint32_t vendor, void* exec, void* graph, uint32_t form) {
    heard.emplace_back(vendor, exec, graph, form);
  });
  mneme_graph_changed(0, MNEME_GRAPH_MADE, 1, &made, &graph);
  mneme_graph_changed(0, MNEME_GRAPH_UPDATED, 0, &exec, &graph);
  mneme_graph_changed(1, MNEME_GRAPH_MADE, 0, &made, &graph); // failed
  mneme_graph_changed(0, MNEME_GRAPH_MADE, 0, nullptr, &graph);
  mneme_rt_set_graph_hook(nullptr);
  REQUIRE(heard.size() == 2);
  void *const ofExec = &exec, *const ofGraph = &graph;
  CHECK(heard[0] == std::tuple(1u, ofExec, ofGraph, uint32_t(MNEME_GRAPH_MADE)));
  CHECK(heard[1] == std::tuple(0u, ofExec, ofGraph, uint32_t(MNEME_GRAPH_UPDATED)));
}
