// Error queries of the CUDA Runtime API.
#include "runtime/device/cpu/cudart/exported.h"
#include "runtime/device/cpu/cudart/status.h"

using namespace mneme::cudart;

MNEME_CUDA_API Status cudaGetLastError() { return takeLastError(); }

MNEME_CUDA_API Status cudaPeekAtLastError() { return lastError(); }

MNEME_CUDA_API const char* cudaGetErrorName(int error) { return statusName(error); }

MNEME_CUDA_API const char* cudaGetErrorString(int error) { return statusSentence(error); }
