// Room record: copies and fills of programs that are linked with CUDA's driver. They change memory,
// so they wait while a launch is recorded.
#include "runtime/record/exported.h"
#include "runtime/record/interpose/alike.h"

using namespace mneme::record;

using Address = unsigned long long;

MNEME_RECORD_API int cuMemcpy(Address to, Address from, size_t bytes) {
  return transfer<cuMemcpy>("cuMemcpy", to, from, bytes);
}

MNEME_RECORD_API int cuMemcpy_ptds(Address to, Address from, size_t bytes) {
  return transfer<cuMemcpy_ptds>("cuMemcpy_ptds", to, from, bytes);
}

MNEME_RECORD_API int cuMemcpyAsync(Address to, Address from, size_t bytes, void* stream) {
  return transfer<cuMemcpyAsync>("cuMemcpyAsync", to, from, bytes, stream);
}

MNEME_RECORD_API int cuMemcpyAsync_ptsz(Address to, Address from, size_t bytes, void* stream) {
  return transfer<cuMemcpyAsync_ptsz>("cuMemcpyAsync_ptsz", to, from, bytes, stream);
}

MNEME_RECORD_API int cuMemcpy2D_v2(const void* copy) {
  return transfer<cuMemcpy2D_v2>("cuMemcpy2D_v2", copy);
}

MNEME_RECORD_API int cuMemcpy2D_v2_ptds(const void* copy) {
  return transfer<cuMemcpy2D_v2_ptds>("cuMemcpy2D_v2_ptds", copy);
}

MNEME_RECORD_API int cuMemcpy2DAsync_v2(const void* copy, void* stream) {
  return transfer<cuMemcpy2DAsync_v2>("cuMemcpy2DAsync_v2", copy, stream);
}

MNEME_RECORD_API int cuMemcpy2DAsync_v2_ptsz(const void* copy, void* stream) {
  return transfer<cuMemcpy2DAsync_v2_ptsz>("cuMemcpy2DAsync_v2_ptsz", copy, stream);
}

MNEME_RECORD_API int cuMemcpy2DUnaligned_v2(const void* copy) {
  return transfer<cuMemcpy2DUnaligned_v2>("cuMemcpy2DUnaligned_v2", copy);
}

MNEME_RECORD_API int cuMemcpy2DUnaligned_v2_ptds(const void* copy) {
  return transfer<cuMemcpy2DUnaligned_v2_ptds>("cuMemcpy2DUnaligned_v2_ptds", copy);
}

MNEME_RECORD_API int cuMemcpy3D_v2(const void* copy) {
  return transfer<cuMemcpy3D_v2>("cuMemcpy3D_v2", copy);
}

MNEME_RECORD_API int cuMemcpy3D_v2_ptds(const void* copy) {
  return transfer<cuMemcpy3D_v2_ptds>("cuMemcpy3D_v2_ptds", copy);
}

MNEME_RECORD_API int cuMemcpy3DAsync_v2(const void* copy, void* stream) {
  return transfer<cuMemcpy3DAsync_v2>("cuMemcpy3DAsync_v2", copy, stream);
}

MNEME_RECORD_API int cuMemcpy3DAsync_v2_ptsz(const void* copy, void* stream) {
  return transfer<cuMemcpy3DAsync_v2_ptsz>("cuMemcpy3DAsync_v2_ptsz", copy, stream);
}

MNEME_RECORD_API int cuMemcpy3DPeer(const void* copy) {
  return transfer<cuMemcpy3DPeer>("cuMemcpy3DPeer", copy);
}

MNEME_RECORD_API int cuMemcpy3DPeer_ptds(const void* copy) {
  return transfer<cuMemcpy3DPeer_ptds>("cuMemcpy3DPeer_ptds", copy);
}

MNEME_RECORD_API int cuMemcpy3DPeerAsync(const void* copy, void* stream) {
  return transfer<cuMemcpy3DPeerAsync>("cuMemcpy3DPeerAsync", copy, stream);
}

MNEME_RECORD_API int cuMemcpy3DPeerAsync_ptsz(const void* copy, void* stream) {
  return transfer<cuMemcpy3DPeerAsync_ptsz>("cuMemcpy3DPeerAsync_ptsz", copy, stream);
}

MNEME_RECORD_API int cuMemcpyDtoD_v2(Address to, Address from, size_t bytes) {
  return transfer<cuMemcpyDtoD_v2>("cuMemcpyDtoD_v2", to, from, bytes);
}

MNEME_RECORD_API int cuMemcpyDtoD_v2_ptds(Address to, Address from, size_t bytes) {
  return transfer<cuMemcpyDtoD_v2_ptds>("cuMemcpyDtoD_v2_ptds", to, from, bytes);
}

MNEME_RECORD_API int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void* stream) {
  return transfer<cuMemcpyDtoDAsync_v2>("cuMemcpyDtoDAsync_v2", to, from, bytes, stream);
}

MNEME_RECORD_API int cuMemcpyDtoDAsync_v2_ptsz(Address to, Address from, size_t bytes,
                                               void* stream) {
  return transfer<cuMemcpyDtoDAsync_v2_ptsz>("cuMemcpyDtoDAsync_v2_ptsz", to, from, bytes, stream);
}

MNEME_RECORD_API int cuMemcpyDtoH_v2(void* to, Address from, size_t bytes) {
  return transfer<cuMemcpyDtoH_v2>("cuMemcpyDtoH_v2", to, from, bytes);
}

MNEME_RECORD_API int cuMemcpyDtoH_v2_ptds(void* to, Address from, size_t bytes) {
  return transfer<cuMemcpyDtoH_v2_ptds>("cuMemcpyDtoH_v2_ptds", to, from, bytes);
}

MNEME_RECORD_API int cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, void* stream) {
  return transfer<cuMemcpyDtoHAsync_v2>("cuMemcpyDtoHAsync_v2", to, from, bytes, stream);
}

MNEME_RECORD_API int cuMemcpyDtoHAsync_v2_ptsz(void* to, Address from, size_t bytes, void* stream) {
  return transfer<cuMemcpyDtoHAsync_v2_ptsz>("cuMemcpyDtoHAsync_v2_ptsz", to, from, bytes, stream);
}

MNEME_RECORD_API int cuMemcpyHtoD_v2(Address to, const void* from, size_t bytes) {
  return transfer<cuMemcpyHtoD_v2>("cuMemcpyHtoD_v2", to, from, bytes);
}

MNEME_RECORD_API int cuMemcpyHtoD_v2_ptds(Address to, const void* from, size_t bytes) {
  return transfer<cuMemcpyHtoD_v2_ptds>("cuMemcpyHtoD_v2_ptds", to, from, bytes);
}

MNEME_RECORD_API int cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes,
                                          void* stream) {
  return transfer<cuMemcpyHtoDAsync_v2>("cuMemcpyHtoDAsync_v2", to, from, bytes, stream);
}

MNEME_RECORD_API int cuMemcpyHtoDAsync_v2_ptsz(Address to, const void* from, size_t bytes,
                                               void* stream) {
  return transfer<cuMemcpyHtoDAsync_v2_ptsz>("cuMemcpyHtoDAsync_v2_ptsz", to, from, bytes, stream);
}

MNEME_RECORD_API int cuMemcpyPeer(Address to, void* toContext, Address from, void* fromContext,
                                  size_t bytes) {
  return transfer<cuMemcpyPeer>("cuMemcpyPeer", to, toContext, from, fromContext, bytes);
}

MNEME_RECORD_API int cuMemcpyPeer_ptds(Address to, void* toContext, Address from, void* fromContext,
                                       size_t bytes) {
  return transfer<cuMemcpyPeer_ptds>("cuMemcpyPeer_ptds", to, toContext, from, fromContext, bytes);
}

MNEME_RECORD_API int cuMemcpyPeerAsync(Address to, void* toContext, Address from, void* fromContext,
                                       size_t bytes, void* stream) {
  return transfer<cuMemcpyPeerAsync>("cuMemcpyPeerAsync", to, toContext, from, fromContext, bytes,
                                     stream);
}

MNEME_RECORD_API int cuMemcpyPeerAsync_ptsz(Address to, void* toContext, Address from,
                                            void* fromContext, size_t bytes, void* stream) {
  return transfer<cuMemcpyPeerAsync_ptsz>("cuMemcpyPeerAsync_ptsz", to, toContext, from,
                                          fromContext, bytes, stream);
}

MNEME_RECORD_API int cuMemcpyAtoA_v2(void* to, size_t toOffset, void* from, size_t fromOffset,
                                     size_t bytes) {
  return transfer<cuMemcpyAtoA_v2>("cuMemcpyAtoA_v2", to, toOffset, from, fromOffset, bytes);
}

MNEME_RECORD_API int cuMemcpyAtoA_v2_ptds(void* to, size_t toOffset, void* from, size_t fromOffset,
                                          size_t bytes) {
  return transfer<cuMemcpyAtoA_v2_ptds>("cuMemcpyAtoA_v2_ptds", to, toOffset, from, fromOffset,
                                        bytes);
}

MNEME_RECORD_API int cuMemcpyAtoD_v2(Address to, void* from, size_t fromOffset, size_t bytes) {
  return transfer<cuMemcpyAtoD_v2>("cuMemcpyAtoD_v2", to, from, fromOffset, bytes);
}

MNEME_RECORD_API int cuMemcpyAtoD_v2_ptds(Address to, void* from, size_t fromOffset, size_t bytes) {
  return transfer<cuMemcpyAtoD_v2_ptds>("cuMemcpyAtoD_v2_ptds", to, from, fromOffset, bytes);
}

MNEME_RECORD_API int cuMemcpyAtoH_v2(void* to, void* from, size_t fromOffset, size_t bytes) {
  return transfer<cuMemcpyAtoH_v2>("cuMemcpyAtoH_v2", to, from, fromOffset, bytes);
}

MNEME_RECORD_API int cuMemcpyAtoH_v2_ptds(void* to, void* from, size_t fromOffset, size_t bytes) {
  return transfer<cuMemcpyAtoH_v2_ptds>("cuMemcpyAtoH_v2_ptds", to, from, fromOffset, bytes);
}

MNEME_RECORD_API int cuMemcpyAtoHAsync_v2(void* to, void* from, size_t fromOffset, size_t bytes,
                                          void* stream) {
  return transfer<cuMemcpyAtoHAsync_v2>("cuMemcpyAtoHAsync_v2", to, from, fromOffset, bytes,
                                        stream);
}

MNEME_RECORD_API int cuMemcpyAtoHAsync_v2_ptsz(void* to, void* from, size_t fromOffset,
                                               size_t bytes, void* stream) {
  return transfer<cuMemcpyAtoHAsync_v2_ptsz>("cuMemcpyAtoHAsync_v2_ptsz", to, from, fromOffset,
                                             bytes, stream);
}

MNEME_RECORD_API int cuMemcpyDtoA_v2(void* to, size_t toOffset, Address from, size_t bytes) {
  return transfer<cuMemcpyDtoA_v2>("cuMemcpyDtoA_v2", to, toOffset, from, bytes);
}

MNEME_RECORD_API int cuMemcpyDtoA_v2_ptds(void* to, size_t toOffset, Address from, size_t bytes) {
  return transfer<cuMemcpyDtoA_v2_ptds>("cuMemcpyDtoA_v2_ptds", to, toOffset, from, bytes);
}

MNEME_RECORD_API int cuMemcpyHtoA_v2(void* to, size_t toOffset, const void* from, size_t bytes) {
  return transfer<cuMemcpyHtoA_v2>("cuMemcpyHtoA_v2", to, toOffset, from, bytes);
}

MNEME_RECORD_API int cuMemcpyHtoA_v2_ptds(void* to, size_t toOffset, const void* from,
                                          size_t bytes) {
  return transfer<cuMemcpyHtoA_v2_ptds>("cuMemcpyHtoA_v2_ptds", to, toOffset, from, bytes);
}

MNEME_RECORD_API int cuMemcpyHtoAAsync_v2(void* to, size_t toOffset, const void* from, size_t bytes,
                                          void* stream) {
  return transfer<cuMemcpyHtoAAsync_v2>("cuMemcpyHtoAAsync_v2", to, toOffset, from, bytes, stream);
}

MNEME_RECORD_API int cuMemcpyHtoAAsync_v2_ptsz(void* to, size_t toOffset, const void* from,
                                               size_t bytes, void* stream) {
  return transfer<cuMemcpyHtoAAsync_v2_ptsz>("cuMemcpyHtoAAsync_v2_ptsz", to, toOffset, from, bytes,
                                             stream);
}

MNEME_RECORD_API int cuMemcpy3DBatchAsync(size_t count, void* copies, size_t* failed,
                                          unsigned long long flags, void* stream) {
  return transfer<cuMemcpy3DBatchAsync>("cuMemcpy3DBatchAsync", count, copies, failed, flags,
                                        stream);
}

MNEME_RECORD_API int cuMemcpy3DBatchAsync_ptsz(size_t count, void* copies, size_t* failed,
                                               unsigned long long flags, void* stream) {
  return transfer<cuMemcpy3DBatchAsync_ptsz>("cuMemcpy3DBatchAsync_ptsz", count, copies, failed,
                                             flags, stream);
}

MNEME_RECORD_API int cuMemcpy3DBatchAsync_v2(size_t count, void* copies, unsigned long long flags,
                                             void* stream) {
  return transfer<cuMemcpy3DBatchAsync_v2>("cuMemcpy3DBatchAsync_v2", count, copies, flags, stream);
}

MNEME_RECORD_API int cuMemcpy3DBatchAsync_v2_ptsz(size_t count, void* copies,
                                                  unsigned long long flags, void* stream) {
  return transfer<cuMemcpy3DBatchAsync_v2_ptsz>("cuMemcpy3DBatchAsync_v2_ptsz", count, copies,
                                                flags, stream);
}

MNEME_RECORD_API int cuMemcpyBatchAsync(void* to, void* from, size_t* sizes, size_t count,
                                        void* attributes, size_t* indices, size_t attributeCount,
                                        size_t* failed, void* stream) {
  return transfer<cuMemcpyBatchAsync>("cuMemcpyBatchAsync", to, from, sizes, count, attributes,
                                      indices, attributeCount, failed, stream);
}

MNEME_RECORD_API int cuMemcpyBatchAsync_ptsz(void* to, void* from, size_t* sizes, size_t count,
                                             void* attributes, size_t* indices,
                                             size_t attributeCount, size_t* failed, void* stream) {
  return transfer<cuMemcpyBatchAsync_ptsz>("cuMemcpyBatchAsync_ptsz", to, from, sizes, count,
                                           attributes, indices, attributeCount, failed, stream);
}

MNEME_RECORD_API int cuMemcpyBatchAsync_v2(void* to, void* from, size_t* sizes, size_t count,
                                           void* attributes, size_t* indices, size_t attributeCount,
                                           void* stream) {
  return transfer<cuMemcpyBatchAsync_v2>("cuMemcpyBatchAsync_v2", to, from, sizes, count,
                                         attributes, indices, attributeCount, stream);
}

MNEME_RECORD_API int cuMemcpyBatchAsync_v2_ptsz(void* to, void* from, size_t* sizes, size_t count,
                                                void* attributes, size_t* indices,
                                                size_t attributeCount, void* stream) {
  return transfer<cuMemcpyBatchAsync_v2_ptsz>("cuMemcpyBatchAsync_v2_ptsz", to, from, sizes, count,
                                              attributes, indices, attributeCount, stream);
}

MNEME_RECORD_API int cuMemsetD16_v2(Address to, uint16_t value, size_t count) {
  return transfer<cuMemsetD16_v2>("cuMemsetD16_v2", to, value, count);
}

MNEME_RECORD_API int cuMemsetD16_v2_ptds(Address to, uint16_t value, size_t count) {
  return transfer<cuMemsetD16_v2_ptds>("cuMemsetD16_v2_ptds", to, value, count);
}

MNEME_RECORD_API int cuMemsetD16Async(Address to, uint16_t value, size_t count, void* stream) {
  return transfer<cuMemsetD16Async>("cuMemsetD16Async", to, value, count, stream);
}

MNEME_RECORD_API int cuMemsetD16Async_ptsz(Address to, uint16_t value, size_t count, void* stream) {
  return transfer<cuMemsetD16Async_ptsz>("cuMemsetD16Async_ptsz", to, value, count, stream);
}

MNEME_RECORD_API int cuMemsetD2D16_v2(Address to, size_t pitch, uint16_t value, size_t width,
                                      size_t height) {
  return transfer<cuMemsetD2D16_v2>("cuMemsetD2D16_v2", to, pitch, value, width, height);
}

MNEME_RECORD_API int cuMemsetD2D16_v2_ptds(Address to, size_t pitch, uint16_t value, size_t width,
                                           size_t height) {
  return transfer<cuMemsetD2D16_v2_ptds>("cuMemsetD2D16_v2_ptds", to, pitch, value, width, height);
}

MNEME_RECORD_API int cuMemsetD2D16Async(Address to, size_t pitch, uint16_t value, size_t width,
                                        size_t height, void* stream) {
  return transfer<cuMemsetD2D16Async>("cuMemsetD2D16Async", to, pitch, value, width, height,
                                      stream);
}

MNEME_RECORD_API int cuMemsetD2D16Async_ptsz(Address to, size_t pitch, uint16_t value, size_t width,
                                             size_t height, void* stream) {
  return transfer<cuMemsetD2D16Async_ptsz>("cuMemsetD2D16Async_ptsz", to, pitch, value, width,
                                           height, stream);
}

MNEME_RECORD_API int cuMemsetD2D32_v2(Address to, size_t pitch, unsigned value, size_t width,
                                      size_t height) {
  return transfer<cuMemsetD2D32_v2>("cuMemsetD2D32_v2", to, pitch, value, width, height);
}

MNEME_RECORD_API int cuMemsetD2D32_v2_ptds(Address to, size_t pitch, unsigned value, size_t width,
                                           size_t height) {
  return transfer<cuMemsetD2D32_v2_ptds>("cuMemsetD2D32_v2_ptds", to, pitch, value, width, height);
}

MNEME_RECORD_API int cuMemsetD2D32Async(Address to, size_t pitch, unsigned value, size_t width,
                                        size_t height, void* stream) {
  return transfer<cuMemsetD2D32Async>("cuMemsetD2D32Async", to, pitch, value, width, height,
                                      stream);
}

MNEME_RECORD_API int cuMemsetD2D32Async_ptsz(Address to, size_t pitch, unsigned value, size_t width,
                                             size_t height, void* stream) {
  return transfer<cuMemsetD2D32Async_ptsz>("cuMemsetD2D32Async_ptsz", to, pitch, value, width,
                                           height, stream);
}

MNEME_RECORD_API int cuMemsetD2D8_v2(Address to, size_t pitch, uint8_t value, size_t width,
                                     size_t height) {
  return transfer<cuMemsetD2D8_v2>("cuMemsetD2D8_v2", to, pitch, value, width, height);
}

MNEME_RECORD_API int cuMemsetD2D8_v2_ptds(Address to, size_t pitch, uint8_t value, size_t width,
                                          size_t height) {
  return transfer<cuMemsetD2D8_v2_ptds>("cuMemsetD2D8_v2_ptds", to, pitch, value, width, height);
}

MNEME_RECORD_API int cuMemsetD2D8Async(Address to, size_t pitch, uint8_t value, size_t width,
                                       size_t height, void* stream) {
  return transfer<cuMemsetD2D8Async>("cuMemsetD2D8Async", to, pitch, value, width, height, stream);
}

MNEME_RECORD_API int cuMemsetD2D8Async_ptsz(Address to, size_t pitch, uint8_t value, size_t width,
                                            size_t height, void* stream) {
  return transfer<cuMemsetD2D8Async_ptsz>("cuMemsetD2D8Async_ptsz", to, pitch, value, width, height,
                                          stream);
}

MNEME_RECORD_API int cuMemsetD32_v2(Address to, unsigned value, size_t count) {
  return transfer<cuMemsetD32_v2>("cuMemsetD32_v2", to, value, count);
}

MNEME_RECORD_API int cuMemsetD32_v2_ptds(Address to, unsigned value, size_t count) {
  return transfer<cuMemsetD32_v2_ptds>("cuMemsetD32_v2_ptds", to, value, count);
}

MNEME_RECORD_API int cuMemsetD32Async(Address to, unsigned value, size_t count, void* stream) {
  return transfer<cuMemsetD32Async>("cuMemsetD32Async", to, value, count, stream);
}

MNEME_RECORD_API int cuMemsetD32Async_ptsz(Address to, unsigned value, size_t count, void* stream) {
  return transfer<cuMemsetD32Async_ptsz>("cuMemsetD32Async_ptsz", to, value, count, stream);
}

MNEME_RECORD_API int cuMemsetD8_v2(Address to, uint8_t value, size_t count) {
  return transfer<cuMemsetD8_v2>("cuMemsetD8_v2", to, value, count);
}

MNEME_RECORD_API int cuMemsetD8_v2_ptds(Address to, uint8_t value, size_t count) {
  return transfer<cuMemsetD8_v2_ptds>("cuMemsetD8_v2_ptds", to, value, count);
}

MNEME_RECORD_API int cuMemsetD8Async(Address to, uint8_t value, size_t count, void* stream) {
  return transfer<cuMemsetD8Async>("cuMemsetD8Async", to, value, count, stream);
}

MNEME_RECORD_API int cuMemsetD8Async_ptsz(Address to, uint8_t value, size_t count, void* stream) {
  return transfer<cuMemsetD8Async_ptsz>("cuMemsetD8Async_ptsz", to, value, count, stream);
}
