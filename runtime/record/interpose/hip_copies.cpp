// Room record: copies and fills of HIP. They change memory, so they wait while a launch is
// recorded.
#include "runtime/record/exported.h"
#include "runtime/record/interpose/alike.h"

using namespace mneme::record;

MNEME_RECORD_API int hipDrvMemcpy2DUnaligned(const void* copy) {
  return transfer<hipDrvMemcpy2DUnaligned>("hipDrvMemcpy2DUnaligned", copy);
}

MNEME_RECORD_API int hipDrvMemcpy3D(const void* copy) {
  return transfer<hipDrvMemcpy3D>("hipDrvMemcpy3D", copy);
}

MNEME_RECORD_API int hipDrvMemcpy3DAsync(const void* copy, void* stream) {
  return transfer<hipDrvMemcpy3DAsync>("hipDrvMemcpy3DAsync", copy, stream);
}

MNEME_RECORD_API int hipMemcpy(void* to, const void* from, size_t bytes, int kind) {
  return transfer<hipMemcpy>("hipMemcpy", to, from, bytes, kind);
}

MNEME_RECORD_API int hipMemcpy_spt(void* to, const void* from, size_t bytes, int kind) {
  return transfer<hipMemcpy_spt>("hipMemcpy_spt", to, from, bytes, kind);
}

MNEME_RECORD_API int hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind,
                                    void* stream) {
  return transfer<hipMemcpyAsync>("hipMemcpyAsync", to, from, bytes, kind, stream);
}

MNEME_RECORD_API int hipMemcpyAsync_spt(void* to, const void* from, size_t bytes, int kind,
                                        void* stream) {
  return transfer<hipMemcpyAsync_spt>("hipMemcpyAsync_spt", to, from, bytes, kind, stream);
}

MNEME_RECORD_API int hipMemcpy2D(void* to, size_t toPitch, const void* from, size_t fromPitch,
                                 size_t width, size_t height, int kind) {
  return transfer<hipMemcpy2D>("hipMemcpy2D", to, toPitch, from, fromPitch, width, height, kind);
}

MNEME_RECORD_API int hipMemcpy2D_spt(void* to, size_t toPitch, const void* from, size_t fromPitch,
                                     size_t width, size_t height, int kind) {
  return transfer<hipMemcpy2D_spt>("hipMemcpy2D_spt", to, toPitch, from, fromPitch, width, height,
                                   kind);
}

MNEME_RECORD_API int hipMemcpy2DAsync(void* to, size_t toPitch, const void* from, size_t fromPitch,
                                      size_t width, size_t height, int kind, void* stream) {
  return transfer<hipMemcpy2DAsync>("hipMemcpy2DAsync", to, toPitch, from, fromPitch, width, height,
                                    kind, stream);
}

MNEME_RECORD_API int hipMemcpy2DAsync_spt(void* to, size_t toPitch, const void* from,
                                          size_t fromPitch, size_t width, size_t height, int kind,
                                          void* stream) {
  return transfer<hipMemcpy2DAsync_spt>("hipMemcpy2DAsync_spt", to, toPitch, from, fromPitch, width,
                                        height, kind, stream);
}

MNEME_RECORD_API int hipMemcpy3D(const void* copy) {
  return transfer<hipMemcpy3D>("hipMemcpy3D", copy);
}

MNEME_RECORD_API int hipMemcpy3D_spt(const void* copy) {
  return transfer<hipMemcpy3D_spt>("hipMemcpy3D_spt", copy);
}

MNEME_RECORD_API int hipMemcpy3DAsync(const void* copy, void* stream) {
  return transfer<hipMemcpy3DAsync>("hipMemcpy3DAsync", copy, stream);
}

MNEME_RECORD_API int hipMemcpy3DAsync_spt(const void* copy, void* stream) {
  return transfer<hipMemcpy3DAsync_spt>("hipMemcpy3DAsync_spt", copy, stream);
}

MNEME_RECORD_API int hipMemcpy3DPeer(void* copy) {
  return transfer<hipMemcpy3DPeer>("hipMemcpy3DPeer", copy);
}

MNEME_RECORD_API int hipMemcpy3DPeerAsync(void* copy, void* stream) {
  return transfer<hipMemcpy3DPeerAsync>("hipMemcpy3DPeerAsync", copy, stream);
}

MNEME_RECORD_API int hipMemcpyDtoD(void* to, void* from, size_t bytes) {
  return transfer<hipMemcpyDtoD>("hipMemcpyDtoD", to, from, bytes);
}

MNEME_RECORD_API int hipMemcpyDtoDAsync(void* to, void* from, size_t bytes, void* stream) {
  return transfer<hipMemcpyDtoDAsync>("hipMemcpyDtoDAsync", to, from, bytes, stream);
}

MNEME_RECORD_API int hipMemcpyDtoH(void* to, void* from, size_t bytes) {
  return transfer<hipMemcpyDtoH>("hipMemcpyDtoH", to, from, bytes);
}

MNEME_RECORD_API int hipMemcpyDtoHAsync(void* to, void* from, size_t bytes, void* stream) {
  return transfer<hipMemcpyDtoHAsync>("hipMemcpyDtoHAsync", to, from, bytes, stream);
}

MNEME_RECORD_API int hipMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                                         int kind) {
  return transfer<hipMemcpyFromSymbol>("hipMemcpyFromSymbol", to, symbol, bytes, offset, kind);
}

MNEME_RECORD_API int hipMemcpyFromSymbol_spt(void* to, const void* symbol, size_t bytes,
                                             size_t offset, int kind) {
  return transfer<hipMemcpyFromSymbol_spt>("hipMemcpyFromSymbol_spt", to, symbol, bytes, offset,
                                           kind);
}

MNEME_RECORD_API int hipMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes,
                                              size_t offset, int kind, void* stream) {
  return transfer<hipMemcpyFromSymbolAsync>("hipMemcpyFromSymbolAsync", to, symbol, bytes, offset,
                                            kind, stream);
}

MNEME_RECORD_API int hipMemcpyFromSymbolAsync_spt(void* to, const void* symbol, size_t bytes,
                                                  size_t offset, int kind, void* stream) {
  return transfer<hipMemcpyFromSymbolAsync_spt>("hipMemcpyFromSymbolAsync_spt", to, symbol, bytes,
                                                offset, kind, stream);
}

MNEME_RECORD_API int hipMemcpyHtoD(void* to, const void* from, size_t bytes) {
  return transfer<hipMemcpyHtoD>("hipMemcpyHtoD", to, from, bytes);
}

MNEME_RECORD_API int hipMemcpyHtoDAsync(void* to, const void* from, size_t bytes, void* stream) {
  return transfer<hipMemcpyHtoDAsync>("hipMemcpyHtoDAsync", to, from, bytes, stream);
}

MNEME_RECORD_API int hipMemcpyParam2D(const void* copy) {
  return transfer<hipMemcpyParam2D>("hipMemcpyParam2D", copy);
}

MNEME_RECORD_API int hipMemcpyParam2DAsync(const void* copy, void* stream) {
  return transfer<hipMemcpyParam2DAsync>("hipMemcpyParam2DAsync", copy, stream);
}

MNEME_RECORD_API int hipMemcpyPeer(void* to, int toDevice, const void* from, int fromDevice,
                                   size_t bytes) {
  return transfer<hipMemcpyPeer>("hipMemcpyPeer", to, toDevice, from, fromDevice, bytes);
}

MNEME_RECORD_API int hipMemcpyPeerAsync(void* to, int toDevice, const void* from, int fromDevice,
                                        size_t bytes, void* stream) {
  return transfer<hipMemcpyPeerAsync>("hipMemcpyPeerAsync", to, toDevice, from, fromDevice, bytes,
                                      stream);
}

MNEME_RECORD_API int hipMemcpyToSymbol(const void* symbol, const void* from, size_t bytes,
                                       size_t offset, int kind) {
  return transfer<hipMemcpyToSymbol>("hipMemcpyToSymbol", symbol, from, bytes, offset, kind);
}

MNEME_RECORD_API int hipMemcpyToSymbol_spt(const void* symbol, const void* from, size_t bytes,
                                           size_t offset, int kind) {
  return transfer<hipMemcpyToSymbol_spt>("hipMemcpyToSymbol_spt", symbol, from, bytes, offset,
                                         kind);
}

MNEME_RECORD_API int hipMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                            size_t offset, int kind, void* stream) {
  return transfer<hipMemcpyToSymbolAsync>("hipMemcpyToSymbolAsync", symbol, from, bytes, offset,
                                          kind, stream);
}

MNEME_RECORD_API int hipMemcpyToSymbolAsync_spt(const void* symbol, const void* from, size_t bytes,
                                                size_t offset, int kind, void* stream) {
  return transfer<hipMemcpyToSymbolAsync_spt>("hipMemcpyToSymbolAsync_spt", symbol, from, bytes,
                                              offset, kind, stream);
}

MNEME_RECORD_API int hipMemcpyWithStream(void* to, const void* from, size_t bytes, int kind,
                                         void* stream) {
  return transfer<hipMemcpyWithStream>("hipMemcpyWithStream", to, from, bytes, kind, stream);
}

MNEME_RECORD_API int hipMemcpy2DArrayToArray(void* to, size_t toX, size_t toY, const void* from,
                                             size_t fromX, size_t fromY, size_t width,
                                             size_t height, int kind) {
  return transfer<hipMemcpy2DArrayToArray>("hipMemcpy2DArrayToArray", to, toX, toY, from, fromX,
                                           fromY, width, height, kind);
}

MNEME_RECORD_API int hipMemcpy2DFromArray(void* to, size_t toPitch, const void* from, size_t x,
                                          size_t y, size_t width, size_t height, int kind) {
  return transfer<hipMemcpy2DFromArray>("hipMemcpy2DFromArray", to, toPitch, from, x, y, width,
                                        height, kind);
}

MNEME_RECORD_API int hipMemcpy2DFromArray_spt(void* to, size_t toPitch, const void* from, size_t x,
                                              size_t y, size_t width, size_t height, int kind) {
  return transfer<hipMemcpy2DFromArray_spt>("hipMemcpy2DFromArray_spt", to, toPitch, from, x, y,
                                            width, height, kind);
}

MNEME_RECORD_API int hipMemcpy2DFromArrayAsync(void* to, size_t toPitch, const void* from, size_t x,
                                               size_t y, size_t width, size_t height, int kind,
                                               void* stream) {
  return transfer<hipMemcpy2DFromArrayAsync>("hipMemcpy2DFromArrayAsync", to, toPitch, from, x, y,
                                             width, height, kind, stream);
}

MNEME_RECORD_API int hipMemcpy2DFromArrayAsync_spt(void* to, size_t toPitch, const void* from,
                                                   size_t x, size_t y, size_t width, size_t height,
                                                   int kind, void* stream) {
  return transfer<hipMemcpy2DFromArrayAsync_spt>("hipMemcpy2DFromArrayAsync_spt", to, toPitch, from,
                                                 x, y, width, height, kind, stream);
}

MNEME_RECORD_API int hipMemcpy2DToArray(void* to, size_t x, size_t y, const void* from,
                                        size_t fromPitch, size_t width, size_t height, int kind) {
  return transfer<hipMemcpy2DToArray>("hipMemcpy2DToArray", to, x, y, from, fromPitch, width,
                                      height, kind);
}

MNEME_RECORD_API int hipMemcpy2DToArray_spt(void* to, size_t x, size_t y, const void* from,
                                            size_t fromPitch, size_t width, size_t height,
                                            int kind) {
  return transfer<hipMemcpy2DToArray_spt>("hipMemcpy2DToArray_spt", to, x, y, from, fromPitch,
                                          width, height, kind);
}

MNEME_RECORD_API int hipMemcpy2DToArrayAsync(void* to, size_t x, size_t y, const void* from,
                                             size_t fromPitch, size_t width, size_t height,
                                             int kind, void* stream) {
  return transfer<hipMemcpy2DToArrayAsync>("hipMemcpy2DToArrayAsync", to, x, y, from, fromPitch,
                                           width, height, kind, stream);
}

MNEME_RECORD_API int hipMemcpy2DToArrayAsync_spt(void* to, size_t x, size_t y, const void* from,
                                                 size_t fromPitch, size_t width, size_t height,
                                                 int kind, void* stream) {
  return transfer<hipMemcpy2DToArrayAsync_spt>("hipMemcpy2DToArrayAsync_spt", to, x, y, from,
                                               fromPitch, width, height, kind, stream);
}

MNEME_RECORD_API int hipMemcpyAtoA(void* to, size_t toOffset, void* from, size_t fromOffset,
                                   size_t bytes) {
  return transfer<hipMemcpyAtoA>("hipMemcpyAtoA", to, toOffset, from, fromOffset, bytes);
}

MNEME_RECORD_API int hipMemcpyAtoD(void* to, void* from, size_t fromOffset, size_t bytes) {
  return transfer<hipMemcpyAtoD>("hipMemcpyAtoD", to, from, fromOffset, bytes);
}

MNEME_RECORD_API int hipMemcpyAtoH(void* to, void* from, size_t fromOffset, size_t bytes) {
  return transfer<hipMemcpyAtoH>("hipMemcpyAtoH", to, from, fromOffset, bytes);
}

MNEME_RECORD_API int hipMemcpyAtoHAsync(void* to, void* from, size_t fromOffset, size_t bytes,
                                        void* stream) {
  return transfer<hipMemcpyAtoHAsync>("hipMemcpyAtoHAsync", to, from, fromOffset, bytes, stream);
}

MNEME_RECORD_API int hipMemcpyDtoA(void* to, size_t toOffset, void* from, size_t bytes) {
  return transfer<hipMemcpyDtoA>("hipMemcpyDtoA", to, toOffset, from, bytes);
}

MNEME_RECORD_API int hipMemcpyFromArray(void* to, const void* from, size_t x, size_t y,
                                        size_t bytes, int kind) {
  return transfer<hipMemcpyFromArray>("hipMemcpyFromArray", to, from, x, y, bytes, kind);
}

MNEME_RECORD_API int hipMemcpyFromArray_spt(void* to, const void* from, size_t x, size_t y,
                                            size_t bytes, int kind) {
  return transfer<hipMemcpyFromArray_spt>("hipMemcpyFromArray_spt", to, from, x, y, bytes, kind);
}

MNEME_RECORD_API int hipMemcpyHtoA(void* to, size_t toOffset, const void* from, size_t bytes) {
  return transfer<hipMemcpyHtoA>("hipMemcpyHtoA", to, toOffset, from, bytes);
}

MNEME_RECORD_API int hipMemcpyHtoAAsync(void* to, size_t toOffset, const void* from, size_t bytes,
                                        void* stream) {
  return transfer<hipMemcpyHtoAAsync>("hipMemcpyHtoAAsync", to, toOffset, from, bytes, stream);
}

MNEME_RECORD_API int hipMemcpyToArray(void* to, size_t x, size_t y, const void* from, size_t bytes,
                                      int kind) {
  return transfer<hipMemcpyToArray>("hipMemcpyToArray", to, x, y, from, bytes, kind);
}

MNEME_RECORD_API int hipMemcpy3DBatchAsync(size_t count, void* copies, size_t* failed,
                                           unsigned long long flags, void* stream) {
  return transfer<hipMemcpy3DBatchAsync>("hipMemcpy3DBatchAsync", count, copies, failed, flags,
                                         stream);
}

MNEME_RECORD_API int hipMemcpyBatchAsync(void* to, void* from, size_t* sizes, size_t count,
                                         void* attributes, size_t* indices, size_t attributeCount,
                                         size_t* failed, void* stream) {
  return transfer<hipMemcpyBatchAsync>("hipMemcpyBatchAsync", to, from, sizes, count, attributes,
                                       indices, attributeCount, failed, stream);
}

MNEME_RECORD_API int hipMemset(void* to, int value, size_t bytes) {
  return transfer<hipMemset>("hipMemset", to, value, bytes);
}

MNEME_RECORD_API int hipMemset_spt(void* to, int value, size_t bytes) {
  return transfer<hipMemset_spt>("hipMemset_spt", to, value, bytes);
}

MNEME_RECORD_API int hipMemsetAsync(void* to, int value, size_t bytes, void* stream) {
  return transfer<hipMemsetAsync>("hipMemsetAsync", to, value, bytes, stream);
}

MNEME_RECORD_API int hipMemsetAsync_spt(void* to, int value, size_t bytes, void* stream) {
  return transfer<hipMemsetAsync_spt>("hipMemsetAsync_spt", to, value, bytes, stream);
}

MNEME_RECORD_API int hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return transfer<hipMemset2D>("hipMemset2D", to, pitch, value, width, height);
}

MNEME_RECORD_API int hipMemset2D_spt(void* to, size_t pitch, int value, size_t width,
                                     size_t height) {
  return transfer<hipMemset2D_spt>("hipMemset2D_spt", to, pitch, value, width, height);
}

MNEME_RECORD_API int hipMemset2DAsync(void* to, size_t pitch, int value, size_t width,
                                      size_t height, void* stream) {
  return transfer<hipMemset2DAsync>("hipMemset2DAsync", to, pitch, value, width, height, stream);
}

MNEME_RECORD_API int hipMemset2DAsync_spt(void* to, size_t pitch, int value, size_t width,
                                          size_t height, void* stream) {
  return transfer<hipMemset2DAsync_spt>("hipMemset2DAsync_spt", to, pitch, value, width, height,
                                        stream);
}

MNEME_RECORD_API int hipMemset3D(PitchedPtr memory, int value, Extent extent) {
  return transfer<hipMemset3D>("hipMemset3D", memory, value, extent);
}

MNEME_RECORD_API int hipMemset3D_spt(PitchedPtr memory, int value, Extent extent) {
  return transfer<hipMemset3D_spt>("hipMemset3D_spt", memory, value, extent);
}

MNEME_RECORD_API int hipMemset3DAsync(PitchedPtr memory, int value, Extent extent, void* stream) {
  return transfer<hipMemset3DAsync>("hipMemset3DAsync", memory, value, extent, stream);
}

MNEME_RECORD_API int hipMemset3DAsync_spt(PitchedPtr memory, int value, Extent extent,
                                          void* stream) {
  return transfer<hipMemset3DAsync_spt>("hipMemset3DAsync_spt", memory, value, extent, stream);
}

MNEME_RECORD_API int hipMemsetD16(void* to, uint16_t value, size_t count) {
  return transfer<hipMemsetD16>("hipMemsetD16", to, value, count);
}

MNEME_RECORD_API int hipMemsetD16Async(void* to, uint16_t value, size_t count, void* stream) {
  return transfer<hipMemsetD16Async>("hipMemsetD16Async", to, value, count, stream);
}

MNEME_RECORD_API int hipMemsetD2D16(void* to, size_t pitch, uint16_t value, size_t width,
                                    size_t height) {
  return transfer<hipMemsetD2D16>("hipMemsetD2D16", to, pitch, value, width, height);
}

MNEME_RECORD_API int hipMemsetD2D16Async(void* to, size_t pitch, uint16_t value, size_t width,
                                         size_t height, void* stream) {
  return transfer<hipMemsetD2D16Async>("hipMemsetD2D16Async", to, pitch, value, width, height,
                                       stream);
}

MNEME_RECORD_API int hipMemsetD2D32(void* to, size_t pitch, unsigned value, size_t width,
                                    size_t height) {
  return transfer<hipMemsetD2D32>("hipMemsetD2D32", to, pitch, value, width, height);
}

MNEME_RECORD_API int hipMemsetD2D32Async(void* to, size_t pitch, unsigned value, size_t width,
                                         size_t height, void* stream) {
  return transfer<hipMemsetD2D32Async>("hipMemsetD2D32Async", to, pitch, value, width, height,
                                       stream);
}

MNEME_RECORD_API int hipMemsetD2D8(void* to, size_t pitch, uint8_t value, size_t width,
                                   size_t height) {
  return transfer<hipMemsetD2D8>("hipMemsetD2D8", to, pitch, value, width, height);
}

MNEME_RECORD_API int hipMemsetD2D8Async(void* to, size_t pitch, uint8_t value, size_t width,
                                        size_t height, void* stream) {
  return transfer<hipMemsetD2D8Async>("hipMemsetD2D8Async", to, pitch, value, width, height,
                                      stream);
}

MNEME_RECORD_API int hipMemsetD32(void* to, int value, size_t count) {
  return transfer<hipMemsetD32>("hipMemsetD32", to, value, count);
}

MNEME_RECORD_API int hipMemsetD32Async(void* to, int value, size_t count, void* stream) {
  return transfer<hipMemsetD32Async>("hipMemsetD32Async", to, value, count, stream);
}

MNEME_RECORD_API int hipMemsetD8(void* to, uint8_t value, size_t count) {
  return transfer<hipMemsetD8>("hipMemsetD8", to, value, count);
}

MNEME_RECORD_API int hipMemsetD8Async(void* to, uint8_t value, size_t count, void* stream) {
  return transfer<hipMemsetD8Async>("hipMemsetD8Async", to, value, count, stream);
}
