// What a program learns of its own kernels, and switching while it runs.
#include <cstdio>
#include <cuda_runtime.h>
#include <proteus/JitInterface.h>
#include <proteus/KernelMetadata.h>

__device__ int counts[3];
__attribute__((annotate("jit", 1))) __global__ void count(int by) { counts[1] += by; }
__global__ void plain() { counts[2] += 1; }

int main() {
  const auto metadata = proteus::runtime::captureKernelMetadata(reinterpret_cast<void*>(count));
  printf("plain: %d\n", proteus::runtime::captureKernelMetadata((void*)plain).has_value());
  if (metadata) {
    const auto& bitcode = metadata->getBitcode();
    void* place = nullptr;
    cudaGetSymbolAddress(&place, counts);
    const proteus::GlobalMetadata& variable = metadata->getGlobals().at("counts");
    printf("%s %c%c %d %d %d\n", metadata->getName().c_str(), bitcode[0], bitcode[1],
           metadata->getStaticHash() != 0, variable.DevAddr == place, (int)variable.VarSize);
  }
  count<<<1, 1>>>(1);
  proteus::disable();
  count<<<1, 1>>>(2);
  proteus::enable();
  count<<<1, 1>>>(1);
  int seen[3];
  cudaMemcpyFromSymbol(seen, counts, sizeof seen);
  printf("count %d\n", seen[1]);
}
