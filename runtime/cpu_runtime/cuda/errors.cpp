// Error queries of the CUDA Runtime API.
#include "runtime/cpu_runtime/core/exported.h"
#include "runtime/cpu_runtime/core/status.h"

using namespace mneme::cpu_runtime;

MNEME_CUDA_API Status cudaGetLastError() { return takeLastError(); }

MNEME_CUDA_API Status cudaPeekAtLastError() { return lastError(); }

MNEME_CUDA_API const char* cudaGetErrorName(int error) { return statusName(error); }

MNEME_CUDA_API const char* cudaGetErrorString(int error) { return statusSentence(error); }
