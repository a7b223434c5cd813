// What NVIDIA's static runtime does for a program that it is linked into: it opens the driver,
// finds its functions by cuGetProcAddress, loads code as libraries, and launches kernels of these.
#include <cstdio>
#include <map>

#include <cuda.h>
#include <dlfcn.h>
#include <vector_types.h>

namespace {

using Get = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

struct Call {
  dim3 grid, block;
  size_t sharedBytes;
  void* stream;
} call;

/// The wrapper of a unit's code, and its kernels by their host functions.
const void* code = nullptr;
std::map<const void*, const char*>& names() {
  static std::map<const void*, const char*> all;
  return all;
}

Get askDriver() {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  static const auto first = reinterpret_cast<Get>(dlsym(library, "cuGetProcAddress_v2"));
  void* get = nullptr;
  CUdriverProcAddressQueryResult result{};
  first("cuGetProcAddress", &get, 12000, 0, &result);
  return reinterpret_cast<Get>(get);
}

template <typename... Args> int driver(const char* name, Args... args) {
  static const Get get = askDriver();
  void* address = nullptr;
  CUdriverProcAddressQueryResult result{};
  get(name, &address, CUDA_VERSION, 0, &result);
  return address ? reinterpret_cast<CUresult (*)(Args...)>(address)(args...) : CUDA_ERROR_NOT_FOUND;
}

CUlibrary start() {
  CUcontext context = nullptr;
  CUlibrary library = nullptr;
  void* const none = nullptr;
  driver("cuInit", 0u);
  driver("cuDevicePrimaryCtxRetain", &context, 0);
  driver("cuCtxSetCurrent", context);
  driver("cuLibraryLoadData", &library, code, none, none, 0u, none, none, 0u);
  return library;
}

CUlibrary library() {
  static const CUlibrary loaded = start();
  return loaded;
}

} // namespace

extern "C" {
void** __cudaRegisterFatBinary(const void* wrapper) {
  code = wrapper;
  return const_cast<void**>(&code);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
void __cudaRegisterFunction(void**, const void* host, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  names()[host] = name;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t sharedBytes, void* stream) {
  return call = {grid, block, sharedBytes, stream}, 0;
}
int __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* sharedBytes, void** stream) {
  return *grid = call.grid, *block = call.block, *sharedBytes = call.sharedBytes,
         *stream = call.stream, 0;
}
int cudaMalloc(void** pointer, size_t bytes) {
  library();
  return driver("cuMemAlloc", pointer, bytes);
}
int cudaMemcpy(void* to, const void* from, size_t bytes, int) {
  return driver("cuMemcpy", to, from, bytes);
}
int cudaLaunchKernel(const void* host, dim3 grid, dim3 block, void** args, size_t sharedBytes,
                     void* stream) {
  CUkernel kernel = nullptr;
  const int status = driver("cuLibraryGetKernel", &kernel, library(), names().at(host));
  void** const none = nullptr;
  return status ? status
                : driver("cuLaunchKernel", kernel, grid.x, grid.y, grid.z, block.x, block.y,
                         block.z, static_cast<unsigned>(sharedBytes), stream, args, none);
}
}
