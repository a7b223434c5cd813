// Room recorder: where CUDA captures a stream into a graph. Kernels that are launched meanwhile are
// recorded when the graph is launched.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"
#include "runtime/recorder/served_graph_memory.h"

using namespace mneme::record;

MNEME_RECORD_API int cudaStreamBeginCapture(void* stream, int mode) {
  return watchCapture(
      [&] { return forward<cudaStreamBeginCapture>("cudaStreamBeginCapture", stream, mode); });
}

MNEME_RECORD_API int cudaStreamBeginCapture_ptsz(void* stream, int mode) {
  return watchCapture([&] {
    return forward<cudaStreamBeginCapture_ptsz>("cudaStreamBeginCapture_ptsz", stream, mode);
  });
}

MNEME_RECORD_API int cudaStreamBeginCaptureToGraph(void* stream, void* graph,
                                                   const void* dependencies, const void* data,
                                                   size_t count, int mode) {
  return watchCapture([&] {
    return forward<cudaStreamBeginCaptureToGraph>("cudaStreamBeginCaptureToGraph", stream, graph,
                                                  dependencies, data, count, mode);
  });
}

MNEME_RECORD_API int cudaStreamBeginCaptureToGraph_ptsz(void* stream, void* graph,
                                                        const void* dependencies, const void* data,
                                                        size_t count, int mode) {
  return watchCapture([&] {
    return forward<cudaStreamBeginCaptureToGraph_ptsz>("cudaStreamBeginCaptureToGraph_ptsz", stream,
                                                       graph, dependencies, data, count, mode);
  });
}

MNEME_RECORD_API int cudaStreamEndCapture(void* stream, void** graph) {
  return captureEnded(stream, graph,
                      forward<cudaStreamEndCapture>("cudaStreamEndCapture", stream, graph));
}

MNEME_RECORD_API int cudaStreamEndCapture_ptsz(void* stream, void** graph) {
  return captureEnded(
      stream, graph,
      forward<cudaStreamEndCapture_ptsz>("cudaStreamEndCapture_ptsz", stream, graph));
}

/// Before CUDA 10.1.
MNEME_RECORD_API int cuStreamBeginCapture(void* stream) {
  return watchCapture(
      [&] { return forward<cuStreamBeginCapture>("cuStreamBeginCapture", stream); });
}

MNEME_RECORD_API int cuStreamBeginCapture_ptsz(void* stream) {
  return watchCapture(
      [&] { return forward<cuStreamBeginCapture_ptsz>("cuStreamBeginCapture_ptsz", stream); });
}

MNEME_RECORD_API int cuStreamBeginCapture_v2(void* stream, int mode) {
  return watchCapture(
      [&] { return forward<cuStreamBeginCapture_v2>("cuStreamBeginCapture_v2", stream, mode); });
}

MNEME_RECORD_API int cuStreamBeginCapture_v2_ptsz(void* stream, int mode) {
  return watchCapture([&] {
    return forward<cuStreamBeginCapture_v2_ptsz>("cuStreamBeginCapture_v2_ptsz", stream, mode);
  });
}

MNEME_RECORD_API int cuStreamBeginCaptureToGraph(void* stream, void* graph,
                                                 const void* dependencies, const void* data,
                                                 size_t count, int mode) {
  return watchCapture([&] {
    return forward<cuStreamBeginCaptureToGraph>("cuStreamBeginCaptureToGraph", stream, graph,
                                                dependencies, data, count, mode);
  });
}

MNEME_RECORD_API int cuStreamBeginCaptureToGraph_ptsz(void* stream, void* graph,
                                                      const void* dependencies, const void* data,
                                                      size_t count, int mode) {
  return watchCapture([&] {
    return forward<cuStreamBeginCaptureToGraph_ptsz>("cuStreamBeginCaptureToGraph_ptsz", stream,
                                                     graph, dependencies, data, count, mode);
  });
}

MNEME_RECORD_API int cuStreamEndCapture(void* stream, void** graph) {
  return captureEnded(stream, graph,
                      forward<cuStreamEndCapture>("cuStreamEndCapture", stream, graph));
}

MNEME_RECORD_API int cuStreamEndCapture_ptsz(void* stream, void** graph) {
  return captureEnded(stream, graph,
                      forward<cuStreamEndCapture_ptsz>("cuStreamEndCapture_ptsz", stream, graph));
}
