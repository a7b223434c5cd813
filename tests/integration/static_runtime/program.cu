// Kernels of its own and of libraries work in one stream, in a graph, and on memory that a library
// without kernels has. The argument is a library to open.
#include <cstdio>

#include <cuda.h>
#include <dlfcn.h>

extern "C" {
int* newNumber();
int addTen(int* number, cudaStream_t stream);
int addHundred(int* number, cudaStream_t stream);
}

using Part = int (*)(int*, cudaStream_t);
using Set = CUresult (*)(CUdeviceptr, unsigned, size_t);

__global__ void twice(int* number) { *number *= 2; }

/// By the driver, whose function is asked of the runtime.
static int set(int* number, unsigned value) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  cudaGetDriverEntryPointByVersion("cuMemsetD32", &function, 12000, cudaEnableDefault, &found);
  return function ? reinterpret_cast<Set>(function)(reinterpret_cast<CUdeviceptr>(number), value, 1)
                  : CUDA_ERROR_NOT_FOUND;
}

int main(int, char** arguments) {
  int* const number = newNumber();
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  CUcontext context = nullptr;
  std::printf("%d %d ", set(number, 5), cuCtxGetCurrent(&context));
  cudaGraph_t graph;
  cudaGraphExec_t made;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  twice<<<1, 1, 0, stream>>>(number);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&made, graph, 0);
  cudaGraphLaunch(made, stream);
  cudaStreamSynchronize(stream);
  std::printf("%d %d ", addTen(number, stream), addHundred(number, stream));
  void* const library = dlopen(arguments[1], RTLD_NOW);
  const auto add = reinterpret_cast<Part>(library ? dlsym(library, "addThousand") : nullptr);
  std::printf("%d\n", add ? add(number, stream) : -1);
  int value = 0;
  const cudaError_t status = cudaMemcpy(&value, number, sizeof value, cudaMemcpyDefault);
  std::printf("%d %s\n", value, cudaGetErrorName(status));
  twice<<<1, 2048>>>(number);
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
