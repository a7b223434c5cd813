// A library with the names that every static runtime has, and no function by which a release of
// CUDA is known.
#include <dlfcn.h>

extern "C" {
__attribute__((visibility("hidden"))) int libcudart_static_0123() { return 100; }
__attribute__((visibility("hidden"))) int cudaMalloc(void**, unsigned long) {
  return dlsym(RTLD_DEFAULT, "cuInit") ? libcudart_static_0123() : 35;
}
int version() { return cudaMalloc(nullptr, 0); }
}
