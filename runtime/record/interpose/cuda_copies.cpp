// Room record: copies and fills of the CUDA runtime. They change memory, so they wait while a
// launch is recorded.
#include "runtime/record/exported.h"
#include "runtime/record/interpose/alike.h"

using namespace mneme::record;

MNEME_RECORD_API int cudaMemcpy(void* to, const void* from, size_t bytes, int kind) {
  return transfer<cudaMemcpy>("cudaMemcpy", to, from, bytes, kind);
}

MNEME_RECORD_API int cudaMemcpy_ptds(void* to, const void* from, size_t bytes, int kind) {
  return transfer<cudaMemcpy_ptds>("cudaMemcpy_ptds", to, from, bytes, kind);
}

MNEME_RECORD_API int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind,
                                     void* stream) {
  return transfer<cudaMemcpyAsync>("cudaMemcpyAsync", to, from, bytes, kind, stream);
}

MNEME_RECORD_API int cudaMemcpyAsync_ptsz(void* to, const void* from, size_t bytes, int kind,
                                          void* stream) {
  return transfer<cudaMemcpyAsync_ptsz>("cudaMemcpyAsync_ptsz", to, from, bytes, kind, stream);
}

MNEME_RECORD_API int cudaMemcpy2D(void* to, size_t toPitch, const void* from, size_t fromPitch,
                                  size_t width, size_t height, int kind) {
  return transfer<cudaMemcpy2D>("cudaMemcpy2D", to, toPitch, from, fromPitch, width, height, kind);
}

MNEME_RECORD_API int cudaMemcpy2D_ptds(void* to, size_t toPitch, const void* from, size_t fromPitch,
                                       size_t width, size_t height, int kind) {
  return transfer<cudaMemcpy2D_ptds>("cudaMemcpy2D_ptds", to, toPitch, from, fromPitch, width,
                                     height, kind);
}

MNEME_RECORD_API int cudaMemcpy2DAsync(void* to, size_t toPitch, const void* from, size_t fromPitch,
                                       size_t width, size_t height, int kind, void* stream) {
  return transfer<cudaMemcpy2DAsync>("cudaMemcpy2DAsync", to, toPitch, from, fromPitch, width,
                                     height, kind, stream);
}

MNEME_RECORD_API int cudaMemcpy2DAsync_ptsz(void* to, size_t toPitch, const void* from,
                                            size_t fromPitch, size_t width, size_t height, int kind,
                                            void* stream) {
  return transfer<cudaMemcpy2DAsync_ptsz>("cudaMemcpy2DAsync_ptsz", to, toPitch, from, fromPitch,
                                          width, height, kind, stream);
}

MNEME_RECORD_API int cudaMemcpy3D(const void* copy) {
  return transfer<cudaMemcpy3D>("cudaMemcpy3D", copy);
}

MNEME_RECORD_API int cudaMemcpy3D_ptds(const void* copy) {
  return transfer<cudaMemcpy3D_ptds>("cudaMemcpy3D_ptds", copy);
}

MNEME_RECORD_API int cudaMemcpy3DAsync(const void* copy, void* stream) {
  return transfer<cudaMemcpy3DAsync>("cudaMemcpy3DAsync", copy, stream);
}

MNEME_RECORD_API int cudaMemcpy3DAsync_ptsz(const void* copy, void* stream) {
  return transfer<cudaMemcpy3DAsync_ptsz>("cudaMemcpy3DAsync_ptsz", copy, stream);
}

MNEME_RECORD_API int cudaMemcpy3DPeer(const void* copy) {
  return transfer<cudaMemcpy3DPeer>("cudaMemcpy3DPeer", copy);
}

MNEME_RECORD_API int cudaMemcpy3DPeer_ptds(const void* copy) {
  return transfer<cudaMemcpy3DPeer_ptds>("cudaMemcpy3DPeer_ptds", copy);
}

MNEME_RECORD_API int cudaMemcpy3DPeerAsync(const void* copy, void* stream) {
  return transfer<cudaMemcpy3DPeerAsync>("cudaMemcpy3DPeerAsync", copy, stream);
}

MNEME_RECORD_API int cudaMemcpy3DPeerAsync_ptsz(const void* copy, void* stream) {
  return transfer<cudaMemcpy3DPeerAsync_ptsz>("cudaMemcpy3DPeerAsync_ptsz", copy, stream);
}

MNEME_RECORD_API int cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                                          int kind) {
  return transfer<cudaMemcpyFromSymbol>("cudaMemcpyFromSymbol", to, symbol, bytes, offset, kind);
}

MNEME_RECORD_API int cudaMemcpyFromSymbol_ptds(void* to, const void* symbol, size_t bytes,
                                               size_t offset, int kind) {
  return transfer<cudaMemcpyFromSymbol_ptds>("cudaMemcpyFromSymbol_ptds", to, symbol, bytes, offset,
                                             kind);
}

MNEME_RECORD_API int cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes,
                                               size_t offset, int kind, void* stream) {
  return transfer<cudaMemcpyFromSymbolAsync>("cudaMemcpyFromSymbolAsync", to, symbol, bytes, offset,
                                             kind, stream);
}

MNEME_RECORD_API int cudaMemcpyFromSymbolAsync_ptsz(void* to, const void* symbol, size_t bytes,
                                                    size_t offset, int kind, void* stream) {
  return transfer<cudaMemcpyFromSymbolAsync_ptsz>("cudaMemcpyFromSymbolAsync_ptsz", to, symbol,
                                                  bytes, offset, kind, stream);
}

MNEME_RECORD_API int cudaMemcpyPeer(void* to, int toDevice, const void* from, int fromDevice,
                                    size_t bytes) {
  return transfer<cudaMemcpyPeer>("cudaMemcpyPeer", to, toDevice, from, fromDevice, bytes);
}

MNEME_RECORD_API int cudaMemcpyPeerAsync(void* to, int toDevice, const void* from, int fromDevice,
                                         size_t bytes, void* stream) {
  return transfer<cudaMemcpyPeerAsync>("cudaMemcpyPeerAsync", to, toDevice, from, fromDevice, bytes,
                                       stream);
}

MNEME_RECORD_API int cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes,
                                        size_t offset, int kind) {
  return transfer<cudaMemcpyToSymbol>("cudaMemcpyToSymbol", symbol, from, bytes, offset, kind);
}

MNEME_RECORD_API int cudaMemcpyToSymbol_ptds(const void* symbol, const void* from, size_t bytes,
                                             size_t offset, int kind) {
  return transfer<cudaMemcpyToSymbol_ptds>("cudaMemcpyToSymbol_ptds", symbol, from, bytes, offset,
                                           kind);
}

MNEME_RECORD_API int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                             size_t offset, int kind, void* stream) {
  return transfer<cudaMemcpyToSymbolAsync>("cudaMemcpyToSymbolAsync", symbol, from, bytes, offset,
                                           kind, stream);
}

MNEME_RECORD_API int cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* from,
                                                  size_t bytes, size_t offset, int kind,
                                                  void* stream) {
  return transfer<cudaMemcpyToSymbolAsync_ptsz>("cudaMemcpyToSymbolAsync_ptsz", symbol, from, bytes,
                                                offset, kind, stream);
}

MNEME_RECORD_API int cudaMemcpy2DArrayToArray(void* to, size_t toX, size_t toY, const void* from,
                                              size_t fromX, size_t fromY, size_t width,
                                              size_t height, int kind) {
  return transfer<cudaMemcpy2DArrayToArray>("cudaMemcpy2DArrayToArray", to, toX, toY, from, fromX,
                                            fromY, width, height, kind);
}

MNEME_RECORD_API int cudaMemcpy2DArrayToArray_ptds(void* to, size_t toX, size_t toY,
                                                   const void* from, size_t fromX, size_t fromY,
                                                   size_t width, size_t height, int kind) {
  return transfer<cudaMemcpy2DArrayToArray_ptds>("cudaMemcpy2DArrayToArray_ptds", to, toX, toY,
                                                 from, fromX, fromY, width, height, kind);
}

MNEME_RECORD_API int cudaMemcpy2DFromArray(void* to, size_t toPitch, const void* from, size_t x,
                                           size_t y, size_t width, size_t height, int kind) {
  return transfer<cudaMemcpy2DFromArray>("cudaMemcpy2DFromArray", to, toPitch, from, x, y, width,
                                         height, kind);
}

MNEME_RECORD_API int cudaMemcpy2DFromArray_ptds(void* to, size_t toPitch, const void* from,
                                                size_t x, size_t y, size_t width, size_t height,
                                                int kind) {
  return transfer<cudaMemcpy2DFromArray_ptds>("cudaMemcpy2DFromArray_ptds", to, toPitch, from, x, y,
                                              width, height, kind);
}

MNEME_RECORD_API int cudaMemcpy2DFromArrayAsync(void* to, size_t toPitch, const void* from,
                                                size_t x, size_t y, size_t width, size_t height,
                                                int kind, void* stream) {
  return transfer<cudaMemcpy2DFromArrayAsync>("cudaMemcpy2DFromArrayAsync", to, toPitch, from, x, y,
                                              width, height, kind, stream);
}

MNEME_RECORD_API int cudaMemcpy2DFromArrayAsync_ptsz(void* to, size_t toPitch, const void* from,
                                                     size_t x, size_t y, size_t width,
                                                     size_t height, int kind, void* stream) {
  return transfer<cudaMemcpy2DFromArrayAsync_ptsz>("cudaMemcpy2DFromArrayAsync_ptsz", to, toPitch,
                                                   from, x, y, width, height, kind, stream);
}

MNEME_RECORD_API int cudaMemcpy2DToArray(void* to, size_t x, size_t y, const void* from,
                                         size_t fromPitch, size_t width, size_t height, int kind) {
  return transfer<cudaMemcpy2DToArray>("cudaMemcpy2DToArray", to, x, y, from, fromPitch, width,
                                       height, kind);
}

MNEME_RECORD_API int cudaMemcpy2DToArray_ptds(void* to, size_t x, size_t y, const void* from,
                                              size_t fromPitch, size_t width, size_t height,
                                              int kind) {
  return transfer<cudaMemcpy2DToArray_ptds>("cudaMemcpy2DToArray_ptds", to, x, y, from, fromPitch,
                                            width, height, kind);
}

MNEME_RECORD_API int cudaMemcpy2DToArrayAsync(void* to, size_t x, size_t y, const void* from,
                                              size_t fromPitch, size_t width, size_t height,
                                              int kind, void* stream) {
  return transfer<cudaMemcpy2DToArrayAsync>("cudaMemcpy2DToArrayAsync", to, x, y, from, fromPitch,
                                            width, height, kind, stream);
}

MNEME_RECORD_API int cudaMemcpy2DToArrayAsync_ptsz(void* to, size_t x, size_t y, const void* from,
                                                   size_t fromPitch, size_t width, size_t height,
                                                   int kind, void* stream) {
  return transfer<cudaMemcpy2DToArrayAsync_ptsz>("cudaMemcpy2DToArrayAsync_ptsz", to, x, y, from,
                                                 fromPitch, width, height, kind, stream);
}

MNEME_RECORD_API int cudaMemcpyArrayToArray(void* to, size_t toX, size_t toY, const void* from,
                                            size_t fromX, size_t fromY, size_t bytes, int kind) {
  return transfer<cudaMemcpyArrayToArray>("cudaMemcpyArrayToArray", to, toX, toY, from, fromX,
                                          fromY, bytes, kind);
}

MNEME_RECORD_API int cudaMemcpyArrayToArray_ptds(void* to, size_t toX, size_t toY, const void* from,
                                                 size_t fromX, size_t fromY, size_t bytes,
                                                 int kind) {
  return transfer<cudaMemcpyArrayToArray_ptds>("cudaMemcpyArrayToArray_ptds", to, toX, toY, from,
                                               fromX, fromY, bytes, kind);
}

MNEME_RECORD_API int cudaMemcpyFromArray(void* to, const void* from, size_t x, size_t y,
                                         size_t bytes, int kind) {
  return transfer<cudaMemcpyFromArray>("cudaMemcpyFromArray", to, from, x, y, bytes, kind);
}

MNEME_RECORD_API int cudaMemcpyFromArray_ptds(void* to, const void* from, size_t x, size_t y,
                                              size_t bytes, int kind) {
  return transfer<cudaMemcpyFromArray_ptds>("cudaMemcpyFromArray_ptds", to, from, x, y, bytes,
                                            kind);
}

MNEME_RECORD_API int cudaMemcpyFromArrayAsync(void* to, const void* from, size_t x, size_t y,
                                              size_t bytes, int kind, void* stream) {
  return transfer<cudaMemcpyFromArrayAsync>("cudaMemcpyFromArrayAsync", to, from, x, y, bytes, kind,
                                            stream);
}

MNEME_RECORD_API int cudaMemcpyFromArrayAsync_ptsz(void* to, const void* from, size_t x, size_t y,
                                                   size_t bytes, int kind, void* stream) {
  return transfer<cudaMemcpyFromArrayAsync_ptsz>("cudaMemcpyFromArrayAsync_ptsz", to, from, x, y,
                                                 bytes, kind, stream);
}

MNEME_RECORD_API int cudaMemcpyToArray(void* to, size_t x, size_t y, const void* from, size_t bytes,
                                       int kind) {
  return transfer<cudaMemcpyToArray>("cudaMemcpyToArray", to, x, y, from, bytes, kind);
}

MNEME_RECORD_API int cudaMemcpyToArray_ptds(void* to, size_t x, size_t y, const void* from,
                                            size_t bytes, int kind) {
  return transfer<cudaMemcpyToArray_ptds>("cudaMemcpyToArray_ptds", to, x, y, from, bytes, kind);
}

MNEME_RECORD_API int cudaMemcpyToArrayAsync(void* to, size_t x, size_t y, const void* from,
                                            size_t bytes, int kind, void* stream) {
  return transfer<cudaMemcpyToArrayAsync>("cudaMemcpyToArrayAsync", to, x, y, from, bytes, kind,
                                          stream);
}

MNEME_RECORD_API int cudaMemcpyToArrayAsync_ptsz(void* to, size_t x, size_t y, const void* from,
                                                 size_t bytes, int kind, void* stream) {
  return transfer<cudaMemcpyToArrayAsync_ptsz>("cudaMemcpyToArrayAsync_ptsz", to, x, y, from, bytes,
                                               kind, stream);
}

// In CUDA 12 these have one parameter more than in CUDA 13, where a failed copy is told. All are
// handed over as numbers and pointers alike: who was given fewer does not look at the last.

MNEME_RECORD_API int cudaMemcpyBatchAsync(void* to, void* from, size_t* sizes, size_t count,
                                          void* attributes, size_t* indices, size_t attributeCount,
                                          void* streamOrFailed, void* stream) {
  return transfer<cudaMemcpyBatchAsync>("cudaMemcpyBatchAsync", to, from, sizes, count, attributes,
                                        indices, attributeCount, streamOrFailed, stream);
}

MNEME_RECORD_API int cudaMemcpy3DBatchAsync(size_t count, void* copies, uint64_t flagsOrFailed,
                                            uint64_t streamOrFlags, void* stream) {
  return transfer<cudaMemcpy3DBatchAsync>("cudaMemcpy3DBatchAsync", count, copies, flagsOrFailed,
                                          streamOrFlags, stream);
}

MNEME_RECORD_API int cudaMemcpyBatchAsync_ptsz(void* to, void* from, size_t* sizes, size_t count,
                                               void* attributes, size_t* indices,
                                               size_t attributeCount, void* streamOrFailed,
                                               void* stream) {
  return transfer<cudaMemcpyBatchAsync_ptsz>("cudaMemcpyBatchAsync_ptsz", to, from, sizes, count,
                                             attributes, indices, attributeCount, streamOrFailed,
                                             stream);
}

MNEME_RECORD_API int cudaMemcpy3DBatchAsync_ptsz(size_t count, void* copies, uint64_t flagsOrFailed,
                                                 uint64_t streamOrFlags, void* stream) {
  return transfer<cudaMemcpy3DBatchAsync_ptsz>("cudaMemcpy3DBatchAsync_ptsz", count, copies,
                                               flagsOrFailed, streamOrFlags, stream);
}

MNEME_RECORD_API int cudaMemset(void* memory, int value, size_t bytes) {
  return transfer<cudaMemset>("cudaMemset", memory, value, bytes);
}

MNEME_RECORD_API int cudaMemset_ptds(void* memory, int value, size_t bytes) {
  return transfer<cudaMemset_ptds>("cudaMemset_ptds", memory, value, bytes);
}

MNEME_RECORD_API int cudaMemsetAsync(void* memory, int value, size_t bytes, void* stream) {
  return transfer<cudaMemsetAsync>("cudaMemsetAsync", memory, value, bytes, stream);
}

MNEME_RECORD_API int cudaMemsetAsync_ptsz(void* memory, int value, size_t bytes, void* stream) {
  return transfer<cudaMemsetAsync_ptsz>("cudaMemsetAsync_ptsz", memory, value, bytes, stream);
}

MNEME_RECORD_API int cudaMemset2D(void* memory, size_t pitch, int value, size_t width,
                                  size_t height) {
  return transfer<cudaMemset2D>("cudaMemset2D", memory, pitch, value, width, height);
}

MNEME_RECORD_API int cudaMemset2D_ptds(void* memory, size_t pitch, int value, size_t width,
                                       size_t height) {
  return transfer<cudaMemset2D_ptds>("cudaMemset2D_ptds", memory, pitch, value, width, height);
}

MNEME_RECORD_API int cudaMemset2DAsync(void* memory, size_t pitch, int value, size_t width,
                                       size_t height, void* stream) {
  return transfer<cudaMemset2DAsync>("cudaMemset2DAsync", memory, pitch, value, width, height,
                                     stream);
}

MNEME_RECORD_API int cudaMemset2DAsync_ptsz(void* memory, size_t pitch, int value, size_t width,
                                            size_t height, void* stream) {
  return transfer<cudaMemset2DAsync_ptsz>("cudaMemset2DAsync_ptsz", memory, pitch, value, width,
                                          height, stream);
}

MNEME_RECORD_API int cudaMemset3D(PitchedPtr memory, int value, Extent extent) {
  return transfer<cudaMemset3D>("cudaMemset3D", memory, value, extent);
}

MNEME_RECORD_API int cudaMemset3D_ptds(PitchedPtr memory, int value, Extent extent) {
  return transfer<cudaMemset3D_ptds>("cudaMemset3D_ptds", memory, value, extent);
}

MNEME_RECORD_API int cudaMemset3DAsync(PitchedPtr memory, int value, Extent extent, void* stream) {
  return transfer<cudaMemset3DAsync>("cudaMemset3DAsync", memory, value, extent, stream);
}

MNEME_RECORD_API int cudaMemset3DAsync_ptsz(PitchedPtr memory, int value, Extent extent,
                                            void* stream) {
  return transfer<cudaMemset3DAsync_ptsz>("cudaMemset3DAsync_ptsz", memory, value, extent, stream);
}
