// Room recorder: copies and fills of the CUDA runtime. They change memory, so they wait while a
// launch is recorded.
#include "runtime/recorder/interpose/transfers.h"

using namespace mneme::record;

MNEME_TRANSFERS(cudaMemcpy, cudaMemcpy_ptds, void*, const void*, size_t, int)
MNEME_TRANSFERS(cudaMemcpyAsync, cudaMemcpyAsync_ptsz, void*, const void*, size_t, int, void*)
MNEME_TRANSFERS(cudaMemcpy2D, cudaMemcpy2D_ptds, void*, size_t, const void*, size_t, size_t, size_t,
                int)
MNEME_TRANSFERS(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz, void*, size_t, const void*, size_t,
                size_t, size_t, int, void*)
MNEME_TRANSFERS(cudaMemcpy3D, cudaMemcpy3D_ptds, const void*)
MNEME_TRANSFERS(cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz, const void*, void*)
MNEME_TRANSFERS(cudaMemcpy3DPeer, cudaMemcpy3DPeer_ptds, const void*)
MNEME_TRANSFERS(cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz, const void*, void*)
MNEME_TRANSFERS(cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds, void*, const void*, size_t, size_t,
                int)
MNEME_TRANSFERS(cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz, void*, const void*,
                size_t, size_t, int, void*)
MNEME_TRANSFER(cudaMemcpyPeer, void*, int, const void*, int, size_t)
MNEME_TRANSFER(cudaMemcpyPeerAsync, void*, int, const void*, int, size_t, void*)
MNEME_TRANSFERS(cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds, const void*, const void*, size_t,
                size_t, int)
MNEME_TRANSFERS(cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz, const void*, const void*,
                size_t, size_t, int, void*)
MNEME_TRANSFERS(cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds, void*, size_t, size_t,
                const void*, size_t, size_t, size_t, size_t, int)
MNEME_TRANSFERS(cudaMemcpy2DFromArray, cudaMemcpy2DFromArray_ptds, void*, size_t, const void*,
                size_t, size_t, size_t, size_t, int)
MNEME_TRANSFERS(cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz, void*, size_t,
                const void*, size_t, size_t, size_t, size_t, int, void*)
MNEME_TRANSFERS(cudaMemcpy2DToArray, cudaMemcpy2DToArray_ptds, void*, size_t, size_t, const void*,
                size_t, size_t, size_t, int)
MNEME_TRANSFERS(cudaMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync_ptsz, void*, size_t, size_t,
                const void*, size_t, size_t, size_t, int, void*)
MNEME_TRANSFERS(cudaMemcpyArrayToArray, cudaMemcpyArrayToArray_ptds, void*, size_t, size_t,
                const void*, size_t, size_t, size_t, int)
MNEME_TRANSFERS(cudaMemcpyFromArray, cudaMemcpyFromArray_ptds, void*, const void*, size_t, size_t,
                size_t, int)
MNEME_TRANSFERS(cudaMemcpyFromArrayAsync, cudaMemcpyFromArrayAsync_ptsz, void*, const void*, size_t,
                size_t, size_t, int, void*)
MNEME_TRANSFERS(cudaMemcpyToArray, cudaMemcpyToArray_ptds, void*, size_t, size_t, const void*,
                size_t, int)
MNEME_TRANSFERS(cudaMemcpyToArrayAsync, cudaMemcpyToArrayAsync_ptsz, void*, size_t, size_t,
                const void*, size_t, int, void*)

// In CUDA 12 these have one parameter more than in CUDA 13, the index of a failed copy. All are
// passed on, whether numbers or pointers: a function with fewer ignores the last.
MNEME_TRANSFERS(cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz, void*, void*, size_t*, size_t,
                void*, size_t*, size_t, void*, void*)
MNEME_TRANSFERS(cudaMemcpy3DBatchAsync, cudaMemcpy3DBatchAsync_ptsz, size_t, void*, uint64_t,
                uint64_t, void*)
MNEME_TRANSFERS(cudaMemset, cudaMemset_ptds, void*, int, size_t)
MNEME_TRANSFERS(cudaMemsetAsync, cudaMemsetAsync_ptsz, void*, int, size_t, void*)
MNEME_TRANSFERS(cudaMemset2D, cudaMemset2D_ptds, void*, size_t, int, size_t, size_t)
MNEME_TRANSFERS(cudaMemset2DAsync, cudaMemset2DAsync_ptsz, void*, size_t, int, size_t, size_t,
                void*)
MNEME_TRANSFERS(cudaMemset3D, cudaMemset3D_ptds, PitchedPtr, int, Extent)
MNEME_TRANSFERS(cudaMemset3DAsync, cudaMemset3DAsync_ptsz, PitchedPtr, int, Extent, void*)
