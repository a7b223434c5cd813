// Room recorder: copies and fills of HIP. They change memory, so they wait while a launch is
// recorded.
#include "runtime/recorder/interpose/transfers.h"

using namespace mneme::record;

MNEME_TRANSFER(hipDrvMemcpy2DUnaligned, const void*)
MNEME_TRANSFER(hipDrvMemcpy3D, const void*)
MNEME_TRANSFER(hipDrvMemcpy3DAsync, const void*, void*)
MNEME_TRANSFERS(hipMemcpy, hipMemcpy_spt, void*, const void*, size_t, int)
MNEME_TRANSFERS(hipMemcpyAsync, hipMemcpyAsync_spt, void*, const void*, size_t, int, void*)
MNEME_TRANSFERS(hipMemcpy2D, hipMemcpy2D_spt, void*, size_t, const void*, size_t, size_t, size_t,
                int)
MNEME_TRANSFERS(hipMemcpy2DAsync, hipMemcpy2DAsync_spt, void*, size_t, const void*, size_t, size_t,
                size_t, int, void*)
MNEME_TRANSFERS(hipMemcpy3D, hipMemcpy3D_spt, const void*)
MNEME_TRANSFERS(hipMemcpy3DAsync, hipMemcpy3DAsync_spt, const void*, void*)
MNEME_TRANSFER(hipMemcpy3DPeer, void*)
MNEME_TRANSFER(hipMemcpy3DPeerAsync, void*, void*)
MNEME_TRANSFER(hipMemcpyDtoD, void*, void*, size_t)
MNEME_TRANSFER(hipMemcpyDtoDAsync, void*, void*, size_t, void*)
MNEME_TRANSFER(hipMemcpyDtoH, void*, void*, size_t)
MNEME_TRANSFER(hipMemcpyDtoHAsync, void*, void*, size_t, void*)
MNEME_TRANSFERS(hipMemcpyFromSymbol, hipMemcpyFromSymbol_spt, void*, const void*, size_t, size_t,
                int)
MNEME_TRANSFERS(hipMemcpyFromSymbolAsync, hipMemcpyFromSymbolAsync_spt, void*, const void*, size_t,
                size_t, int, void*)
MNEME_TRANSFER(hipMemcpyHtoD, void*, const void*, size_t)
MNEME_TRANSFER(hipMemcpyHtoDAsync, void*, const void*, size_t, void*)
MNEME_TRANSFER(hipMemcpyParam2D, const void*)
MNEME_TRANSFER(hipMemcpyParam2DAsync, const void*, void*)
MNEME_TRANSFER(hipMemcpyPeer, void*, int, const void*, int, size_t)
MNEME_TRANSFER(hipMemcpyPeerAsync, void*, int, const void*, int, size_t, void*)
MNEME_TRANSFERS(hipMemcpyToSymbol, hipMemcpyToSymbol_spt, const void*, const void*, size_t, size_t,
                int)
MNEME_TRANSFERS(hipMemcpyToSymbolAsync, hipMemcpyToSymbolAsync_spt, const void*, const void*,
                size_t, size_t, int, void*)
MNEME_TRANSFER(hipMemcpyWithStream, void*, const void*, size_t, int, void*)
MNEME_TRANSFER(hipMemcpy2DArrayToArray, void*, size_t, size_t, const void*, size_t, size_t, size_t,
               size_t, int)
MNEME_TRANSFERS(hipMemcpy2DFromArray, hipMemcpy2DFromArray_spt, void*, size_t, const void*, size_t,
                size_t, size_t, size_t, int)
MNEME_TRANSFERS(hipMemcpy2DFromArrayAsync, hipMemcpy2DFromArrayAsync_spt, void*, size_t,
                const void*, size_t, size_t, size_t, size_t, int, void*)
MNEME_TRANSFERS(hipMemcpy2DToArray, hipMemcpy2DToArray_spt, void*, size_t, size_t, const void*,
                size_t, size_t, size_t, int)
MNEME_TRANSFERS(hipMemcpy2DToArrayAsync, hipMemcpy2DToArrayAsync_spt, void*, size_t, size_t,
                const void*, size_t, size_t, size_t, int, void*)
MNEME_TRANSFER(hipMemcpyAtoA, void*, size_t, void*, size_t, size_t)
MNEME_TRANSFER(hipMemcpyAtoD, void*, void*, size_t, size_t)
MNEME_TRANSFER(hipMemcpyAtoH, void*, void*, size_t, size_t)
MNEME_TRANSFER(hipMemcpyAtoHAsync, void*, void*, size_t, size_t, void*)
MNEME_TRANSFER(hipMemcpyDtoA, void*, size_t, void*, size_t)
MNEME_TRANSFERS(hipMemcpyFromArray, hipMemcpyFromArray_spt, void*, const void*, size_t, size_t,
                size_t, int)
MNEME_TRANSFER(hipMemcpyHtoA, void*, size_t, const void*, size_t)
MNEME_TRANSFER(hipMemcpyHtoAAsync, void*, size_t, const void*, size_t, void*)
MNEME_TRANSFER(hipMemcpyToArray, void*, size_t, size_t, const void*, size_t, int)
MNEME_TRANSFER(hipMemcpy3DBatchAsync, size_t, void*, size_t*, unsigned long long, void*)
MNEME_TRANSFER(hipMemcpyBatchAsync, void*, void*, size_t*, size_t, void*, size_t*, size_t, size_t*,
               void*)
MNEME_TRANSFERS(hipMemset, hipMemset_spt, void*, int, size_t)
MNEME_TRANSFERS(hipMemsetAsync, hipMemsetAsync_spt, void*, int, size_t, void*)
MNEME_TRANSFERS(hipMemset2D, hipMemset2D_spt, void*, size_t, int, size_t, size_t)
MNEME_TRANSFERS(hipMemset2DAsync, hipMemset2DAsync_spt, void*, size_t, int, size_t, size_t, void*)
MNEME_TRANSFERS(hipMemset3D, hipMemset3D_spt, PitchedPtr, int, Extent)
MNEME_TRANSFERS(hipMemset3DAsync, hipMemset3DAsync_spt, PitchedPtr, int, Extent, void*)
MNEME_TRANSFER(hipMemsetD16, void*, uint16_t, size_t)
MNEME_TRANSFER(hipMemsetD16Async, void*, uint16_t, size_t, void*)
MNEME_TRANSFER(hipMemsetD2D16, void*, size_t, uint16_t, size_t, size_t)
MNEME_TRANSFER(hipMemsetD2D16Async, void*, size_t, uint16_t, size_t, size_t, void*)
MNEME_TRANSFER(hipMemsetD2D32, void*, size_t, unsigned, size_t, size_t)
MNEME_TRANSFER(hipMemsetD2D32Async, void*, size_t, unsigned, size_t, size_t, void*)
MNEME_TRANSFER(hipMemsetD2D8, void*, size_t, uint8_t, size_t, size_t)
MNEME_TRANSFER(hipMemsetD2D8Async, void*, size_t, uint8_t, size_t, size_t, void*)
MNEME_TRANSFER(hipMemsetD32, void*, int, size_t)
MNEME_TRANSFER(hipMemsetD32Async, void*, int, size_t, void*)
MNEME_TRANSFER(hipMemsetD8, void*, uint8_t, size_t)
MNEME_TRANSFER(hipMemsetD8Async, void*, uint8_t, size_t, void*)
