// Room recorder: copies and fills of programs that are linked with CUDA's driver. They change
// memory, so they wait while a launch is recorded.
#include "runtime/recorder/interpose/transfers.h"

using namespace mneme::record;

using Address = unsigned long long;

MNEME_TRANSFERS(cuMemcpy, cuMemcpy_ptds, Address, Address, size_t)
MNEME_TRANSFERS(cuMemcpyAsync, cuMemcpyAsync_ptsz, Address, Address, size_t, void*)
MNEME_TRANSFERS(cuMemcpy2D_v2, cuMemcpy2D_v2_ptds, const void*)
MNEME_TRANSFERS(cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz, const void*, void*)
MNEME_TRANSFERS(cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned_v2_ptds, const void*)
MNEME_TRANSFERS(cuMemcpy3D_v2, cuMemcpy3D_v2_ptds, const void*)
MNEME_TRANSFERS(cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz, const void*, void*)
MNEME_TRANSFERS(cuMemcpy3DPeer, cuMemcpy3DPeer_ptds, const void*)
MNEME_TRANSFERS(cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz, const void*, void*)
MNEME_TRANSFERS(cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds, Address, Address, size_t)
MNEME_TRANSFERS(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz, Address, Address, size_t, void*)
MNEME_TRANSFERS(cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds, void*, Address, size_t)
MNEME_TRANSFERS(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz, void*, Address, size_t, void*)
MNEME_TRANSFERS(cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds, Address, const void*, size_t)
MNEME_TRANSFERS(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz, Address, const void*, size_t,
                void*)
MNEME_TRANSFERS(cuMemcpyPeer, cuMemcpyPeer_ptds, Address, void*, Address, void*, size_t)
MNEME_TRANSFERS(cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz, Address, void*, Address, void*, size_t,
                void*)
MNEME_TRANSFERS(cuMemcpyAtoA_v2, cuMemcpyAtoA_v2_ptds, void*, size_t, void*, size_t, size_t)
MNEME_TRANSFERS(cuMemcpyAtoD_v2, cuMemcpyAtoD_v2_ptds, Address, void*, size_t, size_t)
MNEME_TRANSFERS(cuMemcpyAtoH_v2, cuMemcpyAtoH_v2_ptds, void*, void*, size_t, size_t)
MNEME_TRANSFERS(cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync_v2_ptsz, void*, void*, size_t, size_t,
                void*)
MNEME_TRANSFERS(cuMemcpyDtoA_v2, cuMemcpyDtoA_v2_ptds, void*, size_t, Address, size_t)
MNEME_TRANSFERS(cuMemcpyHtoA_v2, cuMemcpyHtoA_v2_ptds, void*, size_t, const void*, size_t)
MNEME_TRANSFERS(cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync_v2_ptsz, void*, size_t, const void*, size_t,
                void*)
MNEME_TRANSFERS(cuMemcpy3DBatchAsync, cuMemcpy3DBatchAsync_ptsz, size_t, void*, size_t*,
                unsigned long long, void*)
MNEME_TRANSFERS(cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync_v2_ptsz, size_t, void*,
                unsigned long long, void*)
MNEME_TRANSFERS(cuMemcpyBatchAsync, cuMemcpyBatchAsync_ptsz, void*, void*, size_t*, size_t, void*,
                size_t*, size_t, size_t*, void*)
MNEME_TRANSFERS(cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync_v2_ptsz, void*, void*, size_t*, size_t,
                void*, size_t*, size_t, void*)
MNEME_TRANSFERS(cuMemsetD16_v2, cuMemsetD16_v2_ptds, Address, uint16_t, size_t)
MNEME_TRANSFERS(cuMemsetD16Async, cuMemsetD16Async_ptsz, Address, uint16_t, size_t, void*)
MNEME_TRANSFERS(cuMemsetD2D16_v2, cuMemsetD2D16_v2_ptds, Address, size_t, uint16_t, size_t, size_t)
MNEME_TRANSFERS(cuMemsetD2D16Async, cuMemsetD2D16Async_ptsz, Address, size_t, uint16_t, size_t,
                size_t, void*)
MNEME_TRANSFERS(cuMemsetD2D32_v2, cuMemsetD2D32_v2_ptds, Address, size_t, unsigned, size_t, size_t)
MNEME_TRANSFERS(cuMemsetD2D32Async, cuMemsetD2D32Async_ptsz, Address, size_t, unsigned, size_t,
                size_t, void*)
MNEME_TRANSFERS(cuMemsetD2D8_v2, cuMemsetD2D8_v2_ptds, Address, size_t, uint8_t, size_t, size_t)
MNEME_TRANSFERS(cuMemsetD2D8Async, cuMemsetD2D8Async_ptsz, Address, size_t, uint8_t, size_t, size_t,
                void*)
MNEME_TRANSFERS(cuMemsetD32_v2, cuMemsetD32_v2_ptds, Address, unsigned, size_t)
MNEME_TRANSFERS(cuMemsetD32Async, cuMemsetD32Async_ptsz, Address, unsigned, size_t, void*)
MNEME_TRANSFERS(cuMemsetD8_v2, cuMemsetD8_v2_ptds, Address, uint8_t, size_t)
MNEME_TRANSFERS(cuMemsetD8Async, cuMemsetD8Async_ptsz, Address, uint8_t, size_t, void*)
