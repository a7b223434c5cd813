// Runs the kernel `add` of the device code in argv[1], which adds its argument and the variable
// `offset` to each number, by functions of the driver that it looks up: each by dlsym()
// ("symbols"), by cuGetProcAddress alone ("addresses", "per-thread" for streams of each thread), or
// by the runtime that the process has ("entry-points", "versions").
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <cuda.h>
#include <dlfcn.h>

namespace {

using GetAddress = CUresult (*)(const char*, void**, int, cuuint64_t,
                                CUdriverProcAddressQueryResult*);

void* library = nullptr;
GetAddress getAddress = nullptr;
cuuint64_t flags = CU_GET_PROC_ADDRESS_DEFAULT;

/// PyTorch asks so for the driver's functions.
CUresult askRuntime(const char* name, void** address, int, cuuint64_t,
                    CUdriverProcAddressQueryResult* result) {
  using Ask = int (*)(const char*, void**, unsigned long long, CUdriverProcAddressQueryResult*);
  static const auto ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "cudaGetDriverEntryPoint"));
  return static_cast<CUresult>(ask(name, address, 0, result));
}

CUresult askRuntimeFor(const char* name, void** address, int version, cuuint64_t,
                       CUdriverProcAddressQueryResult* result) {
  using Ask =
      int (*)(const char*, void**, unsigned, unsigned long long, CUdriverProcAddressQueryResult*);
  static const auto ask =
      reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "cudaGetDriverEntryPointByVersion"));
  return static_cast<CUresult>(ask(name, address, unsigned(version), 0, result));
}

void* lookUp(const char* name, const char* exported) {
  if (!getAddress)
    return dlsym(library, exported);
  void* address = nullptr;
  CUdriverProcAddressQueryResult result{};
  return getAddress(name, &address, CUDA_VERSION, flags, &result) == 0 ? address : nullptr;
}

template <typename... Args> void call(const char* name, const char* exported, Args... args) {
  void* const address = lookUp(name, exported);
  const CUresult status =
      address ? reinterpret_cast<CUresult (*)(Args...)>(address)(args...) : CUDA_ERROR_NOT_FOUND;
  if (status != CUDA_SUCCESS)
    std::printf("%s: %d\n", name, static_cast<int>(status));
}

template <typename... Args> void call(const char* name, Args... args) { call(name, name, args...); }

int run(const void* function, int argument) {
  CUdeviceptr numbers = 0;
  int count = 100, last = 0;
  call("cuMemAlloc", "cuMemAlloc_v2", &numbers, count * sizeof(int));
  call("cuMemsetD32", "cuMemsetD32_v2", numbers, 5u, size_t(count));
  void* args[] = {&numbers, &count, &argument};
  call("cuLaunchKernel", function, 4u, 1u, 1u, 32u, 1u, 1u, 0u, CUstream(nullptr), &args[0],
       static_cast<void**>(nullptr));
  call("cuCtxSynchronize");
  call("cuMemcpyDtoH", "cuMemcpyDtoH_v2", static_cast<void*>(&last), numbers + 4 * (count - 1),
       sizeof last);
  call("cuMemFree", "cuMemFree_v2", numbers);
  return last;
}

/// The image lies in a buffer of the program's own file, which holds something else afterwards.
void useLibrary(const std::vector<char>& content) {
  static char image[1 << 20];
  std::copy_n(content.begin(), std::min(content.size(), sizeof image), image);
  CUlibrary code = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr, ofModule = nullptr;
  CUmodule module = nullptr;
  CUdeviceptr offset = 0;
  size_t bytes = 0;
  void* const none = nullptr;
  call("cuLibraryLoadData", &code, static_cast<const void*>(image), none, none, 0u, none, none, 0u);
  std::memset(image, 0, sizeof image);
  call("cuLibraryGetKernel", &kernel, code, "add");
  call("cuKernelGetFunction", &function, kernel);
  call("cuLibraryGetModule", &module, code);
  call("cuModuleGetFunction", &ofModule, module, "add");
  call("cuLibraryGetGlobal", &offset, &bytes, code, "offset");
  std::printf("%d, %d, %d, %zu bytes\n", run(kernel, 6), run(function, 8), run(ofModule, 10),
              bytes);
  call("cuLibraryUnload", code);
}

} // namespace

int main(int, char** argv) {
  const std::string way = argv[2];
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  image.push_back(0);
  library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return std::puts("no driver"), 1;
  if (way == "per-thread")
    flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (way != "symbols")
    getAddress = reinterpret_cast<GetAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (way == "entry-points" || way == "versions")
    getAddress = way == "versions" ? askRuntimeFor : askRuntime;
  dlerror();
  if (dlsym(library, "cuThereIsNoSuchFunction") || !dlerror())
    std::puts("found what is not there");
  if (!dlsym(library, "cuMemAlloc_v2") || dlerror())
    std::puts("an error that is none");
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  call("cuInit", 0u);
  call("cuDevicePrimaryCtxRetain", &context, CUdevice(0));
  call("cuCtxSetCurrent", context);
  call("cuModuleLoadData", &module, static_cast<const void*>(image.data()));
  call("cuModuleGetFunction", &function, module, "add");
  std::printf("%d, %d\n", run(function, 2), run(function, 4));
  call("cuModuleUnload", module);
  useLibrary(image);
  useLibrary(image); // at the same address, maybe with the same handles
}
