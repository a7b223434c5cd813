// A CUDA runtime whose functions return at once, so that only the launch path is measured. Tuned
// kernels are loaded and launched by functions that do nothing either.
#include "runtime/core/abi/cpu_variants.h"

struct Dim3 {
  unsigned x, y, z;
};

static Dim3 grid, block;

extern "C" {
int cudaLaunchKernel(const void*, Dim3, Dim3, void**, unsigned long, void*) { return 0; }
int cudaDeviceSynchronize() { return 0; }
unsigned __cudaPushCallConfiguration(Dim3 wantedGrid, Dim3 wantedBlock, unsigned long, void*) {
  grid = wantedGrid;
  block = wantedBlock;
  return 0;
}
int __cudaPopCallConfiguration(Dim3* wantedGrid, Dim3* wantedBlock, unsigned long* sharedBytes,
                               void* stream) {
  *wantedGrid = grid;
  *wantedBlock = block;
  *sharedBytes = 0;
  *static_cast<void**>(stream) = nullptr;
  return 0;
}
void** __cudaRegisterFatBinary(void*) {
  static void* handle;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*) {}

int mneme_cudart_load_variant(const void*, const void*, size_t, void** variant, char*, size_t) {
  static char loaded;
  *variant = &loaded;
  return 0;
}
int mneme_cudart_launch_variant(void*, const mneme_cpu_variant_launch*, int* status) {
  *status = 0;
  return 1;
}
const char* mneme_cudart_device_name(void) { return "none"; }
void mneme_cudart_free_variant(void*) {}
}
