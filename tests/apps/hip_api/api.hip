// What programs ask of HIP's runtime beside launching kernels: each line is one promise. Prints the
// promises that are broken, then their number.
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <vector>

static int broken = 0;

static void expect(bool holds, const char* promise, int line) {
  if (holds)
    return;
  std::printf("line %d: %s (last error: %s)\n", line, promise, hipGetErrorName(hipGetLastError()));
  ++broken;
}
#define EXPECT(promise) expect((promise), #promise, __LINE__)
#define OK(call) EXPECT((call) == hipSuccess)

__device__ int counter = 41;
__constant__ float table[4] = {1, 2, 3, 4};
__managed__ int shared = 7;

__global__ void add(const int* in, int* out, int value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + value;
}

__global__ void useVariables(float* out) {
  out[threadIdx.x] = table[threadIdx.x] * float(counter);
  __syncthreads();
  if (threadIdx.x == 0) {
    counter += 1;
    shared *= 2;
  }
}

__global__ void __launch_bounds__(128) dynamicShared(int* out) {
  extern __shared__ int values[];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

static void devices() {
  int count = 0, device = -1, value = 0, low = 0, high = 0;
  char text[64];
  OK(hipInit(0));
  OK(hipGetDeviceCount(&count));
  EXPECT(count == 1);
  OK(hipSetDevice(0));
  OK(hipGetDevice(&device));
  EXPECT(device == 0);
  EXPECT(hipSetDevice(1) == hipErrorInvalidDevice);
  EXPECT(hipGetLastError() == hipErrorInvalidDevice);
  EXPECT(hipGetLastError() == hipSuccess);
  EXPECT(std::strcmp(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory") == 0);
  EXPECT(std::strcmp(hipGetErrorString(hipErrorInvalidValue), "invalid argument") == 0);
  hipDeviceProp_t properties;
  OK(hipGetDeviceProperties(&properties, 0));
  EXPECT(properties.warpSize == 64);
  EXPECT(std::strncmp(properties.gcnArchName, "gfx90a", 6) == 0);
  EXPECT(properties.maxThreadsPerBlock == 1024 && properties.maxThreadsDim[2] == 1024);
  EXPECT(properties.sharedMemPerBlock == 65536);
  EXPECT(properties.totalGlobalMem > 0 && properties.multiProcessorCount > 0);
  EXPECT(properties.managedMemory == 1 && properties.pageableMemoryAccess == 0);
#if HIP_VERSION_MAJOR < 6
  EXPECT(properties.gcnArch == 910);
#endif
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
  EXPECT(value == 64);
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxThreadsPerBlock, 0));
  EXPECT(value == 1024);
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
  EXPECT(value == properties.multiProcessorCount);
  OK(hipDeviceGetName(text, sizeof text, 0));
  EXPECT(std::strncmp(text, "CPU (", 5) == 0);
  OK(hipDeviceGetStreamPriorityRange(&low, &high));
  EXPECT(high <= low);
  OK(hipRuntimeGetVersion(&value));
  EXPECT(value / 10000000 == HIP_VERSION_MAJOR);
}

static void contexts() {
  hipCtx_t context = nullptr, current = nullptr;
  hipDevice_t device = -1;
  OK(hipDevicePrimaryCtxRetain(&context, 0));
  OK(hipCtxSetCurrent(context));
  OK(hipCtxGetCurrent(&current));
  EXPECT(context && current == context);
  OK(hipCtxGetDevice(&device));
  EXPECT(device == 0);
  EXPECT(hipDevicePrimaryCtxRetain(&context, 1) == hipErrorInvalidDevice);
  OK(hipDevicePrimaryCtxRelease(0));
  (void)hipGetLastError();
}

static void memory() {
  constexpr int n = 100;
  std::vector<int> host(n), back(n);
  for (int i = 0; i < n; ++i)
    host[i] = i;
  int *device = nullptr, *other = nullptr, *pinned = nullptr, *managed = nullptr;
  OK(hipMalloc(&device, n * sizeof(int)));
  OK(hipMallocAsync(reinterpret_cast<void**>(&other), n * sizeof(int), nullptr));
  OK(hipHostMalloc(&pinned, n * sizeof(int), hipHostMallocDefault));
  OK(hipMallocManaged(&managed, n * sizeof(int)));
  OK(hipMemcpy(device, host.data(), n * sizeof(int), hipMemcpyHostToDevice));
  OK(hipMemcpyDtoD(other, device, n * sizeof(int)));
  OK(hipMemcpy(other, device, sizeof(int), static_cast<hipMemcpyKind>(1024))); // without a kernel
  EXPECT(hipMemcpy(other, device, sizeof(int), static_cast<hipMemcpyKind>(5)) ==
         hipErrorInvalidMemcpyDirection);
  OK(hipMemcpyAsync(pinned, other, n * sizeof(int), hipMemcpyDeviceToHost, nullptr));
  OK(hipDeviceSynchronize());
  EXPECT(std::memcmp(pinned, host.data(), n * sizeof(int)) == 0);
  OK(hipMemsetD32(device, 0x01020304, n));
  OK(hipMemcpyDtoH(back.data(), device, n * sizeof(int)));
  EXPECT(back[0] == 0x01020304 && back[n - 1] == 0x01020304);
  OK(hipMemset(managed, 0xff, n * sizeof(int)));
  EXPECT(managed[n - 1] == -1);
  EXPECT(hipMemcpy(device, host.data(), (n + 64) * sizeof(int), hipMemcpyHostToDevice) ==
         hipErrorInvalidValue);
  hipPointerAttribute_t attributes;
  OK(hipPointerGetAttributes(&attributes, managed));
  EXPECT(attributes.isManaged && attributes.device == 0);
  void* base = nullptr;
  size_t bytes = 0, pitch = 0, free = 0, total = 0;
  OK(hipMemGetAddressRange(&base, &bytes, device + 3));
  EXPECT(base == device && bytes == n * sizeof(int));
  void* rows = nullptr;
  OK(hipMallocPitch(&rows, &pitch, 100, 5));
  EXPECT(pitch >= 100 && pitch % 128 == 0);
  OK(hipMemcpy2D(rows, pitch, host.data(), 40, 40, 5, hipMemcpyHostToDevice));
  OK(hipMemcpy2D(back.data(), 40, rows, pitch, 40, 5, hipMemcpyDeviceToHost));
  EXPECT(back[49] == 49);
  hip_Memcpy2D plane = {};
  plane.srcMemoryType = hipMemoryTypeDevice;
  plane.srcDevice = rows;
  plane.srcXInBytes = 4;
  plane.srcY = 1;
  plane.srcPitch = pitch;
  plane.dstMemoryType = hipMemoryTypeHost;
  plane.dstHost = back.data();
  plane.dstPitch = 8;
  plane.WidthInBytes = 8;
  plane.Height = 3;
  OK(hipMemcpyParam2D(&plane));
  EXPECT(back[0] == 11 && back[1] == 12 && back[4] == 31 && back[6] == 6);
  plane.srcY = 2;
  OK(hipMemcpyParam2DAsync(&plane, nullptr));
  EXPECT(back[0] == 21 && back[5] == 42);
  OK(hipMemGetInfo(&free, &total));
  EXPECT(free <= total);
  OK(hipHostRegister(host.data(), n * sizeof(int), hipHostRegisterDefault));
  void* mapped = nullptr;
  OK(hipHostGetDevicePointer(&mapped, host.data(), 0));
  EXPECT(mapped == host.data());
  OK(hipHostUnregister(host.data()));
  EXPECT(hipFree(host.data()) == hipErrorInvalidValue);
  EXPECT(hipPeekAtLastError() == hipErrorInvalidValue && hipGetLastError() != hipSuccess);
  OK(hipFree(rows));
  OK(hipFree(managed));
  OK(hipHostFree(pinned));
  OK(hipFreeAsync(other, nullptr));
  OK(hipFree(device));
}

static void launches() {
  constexpr int n = 200;
  int *in = nullptr, *out = nullptr;
  std::vector<int> host(n), back(n);
  for (int i = 0; i < n; ++i)
    host[i] = i;
  OK(hipMalloc(&in, n * sizeof(int)));
  OK(hipMalloc(&out, n * sizeof(int)));
  OK(hipMemcpyHtoD(in, host.data(), n * sizeof(int)));
  hipStream_t stream;
  hipEvent_t start, stop;
  OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  OK(hipEventCreate(&start));
  OK(hipEventCreateWithFlags(&stop, hipEventReleaseToSystem));
  OK(hipEventRecord(start, stream));
  add<<<2, 128, 0, stream>>>(in, out, 5, n);
  OK(hipGetLastError());
  OK(hipEventRecord(stop, stream));
  OK(hipStreamWaitEvent(stream, stop, 0));
  OK(hipStreamSynchronize(stream));
  OK(hipEventQuery(stop));
  float milliseconds = -1;
  OK(hipEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds >= 0);
  OK(hipMemcpyDtoH(back.data(), out, n * sizeof(int)));
  EXPECT(back[0] == 5 && back[n - 1] == n + 4);
  int value = 9, count = n;
  void* args[] = {&in, &out, &value, &count};
  OK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(add), dim3(1), dim3(256), args, 0,
                                stream));
  OK(hipMemcpyDtoH(back.data(), out, n * sizeof(int)));
  EXPECT(back[n - 1] == n + 8);
  value = 3;
  OK(hipExtLaunchKernel(reinterpret_cast<const void*>(add), dim3(2), dim3(128), args, 0, stream,
                        start, stop, 0));
  OK(hipMemcpyDtoH(back.data(), out, n * sizeof(int)));
  EXPECT(back[n - 1] == n + 2);
  add<<<1, 2048>>>(in, out, 5, n);
  EXPECT(hipGetLastError() == hipErrorInvalidConfiguration);
  add<<<dim3(1), dim3(2, 1, 100)>>>(in, out, 40, n);
  OK(hipGetLastError());
  OK(hipMemcpyDtoH(back.data(), out, n * sizeof(int)));
  EXPECT(back[1] == 41 && back[2] == 5);
  add<<<dim3(1), dim3(1, 1, 1025)>>>(in, out, 5, n);
  EXPECT(hipGetLastError() == hipErrorInvalidConfiguration);
  dynamicShared<<<1, 128, 128 * sizeof(int)>>>(out);
  OK(hipGetLastError());
  OK(hipMemcpyDtoH(back.data(), out, 128 * sizeof(int)));
  EXPECT(back[0] == 127 && back[127] == 0);
  hipFuncAttributes attributes;
  OK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(dynamicShared)));
  EXPECT(attributes.maxThreadsPerBlock == 128);
  int blocks = 0, threads = 0;
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamicShared, 128, 0));
  EXPECT(blocks > 0);
  OK(hipOccupancyMaxPotentialBlockSize(&blocks, &threads, dynamicShared, 0, 0));
  EXPECT(threads == 128 && blocks > 0);
  OK(hipEventDestroy(start));
  OK(hipEventDestroy(stop));
  OK(hipStreamDestroy(stream));
  OK(hipFree(in));
  OK(hipFree(out));
}

static void variables() {
  float* out = nullptr;
  float back[4];
  int read = 0, one = 1;
  size_t bytes = 0;
  void* address = nullptr;
  OK(hipMalloc(&out, sizeof back));
  EXPECT(shared == 7);
  useVariables<<<1, 4>>>(out);
  OK(hipMemcpy(back, out, sizeof back, hipMemcpyDeviceToHost));
  EXPECT(back[0] == 41 && back[3] == 164);
  EXPECT(shared == 14);
  OK(hipMemcpyFromSymbol(&read, HIP_SYMBOL(counter), sizeof read));
  EXPECT(read == 42);
  OK(hipMemcpyToSymbol(HIP_SYMBOL(counter), &one, sizeof one));
  OK(hipGetSymbolAddress(&address, HIP_SYMBOL(counter)));
  OK(hipMemcpy(&read, address, sizeof read, hipMemcpyDeviceToHost));
  EXPECT(read == 1);
  OK(hipGetSymbolSize(&bytes, HIP_SYMBOL(table)));
  EXPECT(bytes == sizeof table);
  shared = 5;
  useVariables<<<1, 4>>>(out);
  OK(hipDeviceSynchronize());
  EXPECT(shared == 10);
  OK(hipFree(out));
}

static void refusals() {
  hipMipmappedArray_t array = nullptr;
  hipChannelFormatDesc format{32, 0, 0, 0, hipChannelFormatKindFloat};
  EXPECT(hipMallocMipmappedArray(&array, &format, {8, 8, 0}, 2, 0) == hipErrorNotSupported);
  EXPECT(hipGetLastError() == hipErrorNotSupported);
  hipModule_t module;
  EXPECT(hipModuleLoad(&module, "/nonexistent/file") == hipErrorFileNotFound);
  hipEvent_t none = reinterpret_cast<hipEvent_t>(&broken);
  EXPECT(hipEventRecord(none, nullptr) == hipErrorInvalidHandle);
  (void)hipGetLastError();
}

/// A code object the program loads by itself; its path is an argument.
static void modules(const char* path) {
  hipModule_t module;
  hipFunction_t function;
  int *in = nullptr, *out = nullptr, value = 6, count = 4;
  const int host[4] = {1, 2, 3, 4};
  int back[4] = {};
  OK(hipMalloc(&in, sizeof host));
  OK(hipMalloc(&out, sizeof host));
  OK(hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice));
  OK(hipModuleLoad(&module, path));
  EXPECT(hipModuleGetFunction(&function, module, "missing") == hipErrorNotFound);
  OK(hipModuleGetFunction(&function, module, "_Z3addPKiPiii"));
  void* args[] = {&in, &out, &value, &count};
  OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
  OK(hipMemcpy(back, out, sizeof back, hipMemcpyDeviceToHost));
  EXPECT(back[0] == 7 && back[3] == 10);
  struct {
    int *in, *out, value, count;
  } packed = {in, out, 8, 4};
  size_t bytes = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  OK(hipMemcpy(back, out, sizeof back, hipMemcpyDeviceToHost));
  EXPECT(back[3] == 12);
  value = 9;
  // Younger than the headers this is built with.
  using Cooperative = hipError_t (*)(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     unsigned, unsigned, hipStream_t, void**);
  auto cooperative =
      reinterpret_cast<Cooperative>(dlsym(RTLD_DEFAULT, "hipModuleLaunchCooperativeKernel"));
  OK(cooperative(function, 1, 1, 1, 64, 1, 1, 0, nullptr, args));
  OK(hipMemcpy(back, out, sizeof back, hipMemcpyDeviceToHost));
  EXPECT(back[3] == 13);
  count = 2;
  value = 20;
  OK(hipExtModuleLaunchKernel(function, 4, 1, 1, 2, 1, 1, 0, nullptr, args, nullptr, nullptr,
                              nullptr, 0));
  OK(hipMemcpy(back, out, sizeof back, hipMemcpyDeviceToHost));
  EXPECT(back[1] == 22 && back[2] == 12);
  EXPECT(hipExtModuleLaunchKernel(function, 5, 1, 1, 2, 1, 1, 0, nullptr, args, nullptr, nullptr,
                                  nullptr, 0) == hipErrorNotSupported);
  void* address = nullptr;
  int read = 0;
  EXPECT(hipModuleGetGlobal(&address, &bytes, module, "missing") == hipErrorNotFound);
  OK(hipModuleGetGlobal(&address, &bytes, module, "counter")); // the module's, not the program's
  OK(hipMemcpy(&read, address, sizeof read, hipMemcpyDeviceToHost));
  EXPECT(bytes == sizeof read && read == 41);
  const float twice[4] = {2, 4, 6, 8};
  OK(hipModuleGetGlobal(&address, nullptr, module, "table"));
  OK(hipMemcpy(address, twice, sizeof twice, hipMemcpyHostToDevice));
  OK(hipModuleUnload(module));
  (void)hipGetLastError();
}

int main(int argc, char** argv) {
  devices();
  contexts();
  memory();
  launches();
  variables();
  refusals();
  if (argc > 1)
    modules(argv[1]);
  std::printf("%d broken promises\n", broken);
  return broken != 0;
}
