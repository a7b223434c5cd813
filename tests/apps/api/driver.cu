// The driver API beside the runtime: contexts, memory, copies, fills, streams, events, attributes.
#include <cstring>

#include <cuda.h>

#include "check.h"

namespace {

constexpr int count = 4096;
constexpr size_t bytes = count * sizeof(int);

__global__ void scale(const int* in, int* out, int factor) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count)
    out[at] = in[at] * factor + 1;
}

void expect(CUresult status, CUresult expected = CUDA_SUCCESS,
            std::source_location at = std::source_location::current()) {
  const char* name = "no name";
  cuGetErrorName(status, &name);
  if (status != expected)
    std::printf("line %u: got %s\n", static_cast<unsigned>(at.line()), name);
  failedChecks += status != expected;
}

int* pointer(CUdeviceptr address) { return reinterpret_cast<int*>(address); }

void checkDevice() {
  int devices = 0, major = 0, warp = 0, version = 0, ofRuntime = 0;
  CUdevice device = -1;
  char name[256] = "";
  size_t memory = 0;
  CUuuid uuid;
  expect(cuInit(0));
  expect(cuDriverGetVersion(&version));
  expect(cuDeviceGetCount(&devices));
  check(version >= 12000 && devices >= 1, "version and devices");
  expect(cuDeviceGet(&device, 0));
  expect(cuDeviceGet(&device, devices), CUDA_ERROR_INVALID_DEVICE);
  expect(cuDeviceGetName(name, sizeof name, 0));
  cudaDeviceProp properties;
  expect(cudaGetDeviceProperties(&properties, 0));
  check(!std::strcmp(name, properties.name), "the name of the device");
  expect(cuDeviceGetUuid(&uuid, 0));
  check(!std::memcmp(&uuid, &properties.uuid, sizeof uuid), "the number of the device");
  expect(cuDeviceTotalMem(&memory, 0));
  check(memory > 0, "memory of the device");
  expect(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  expect(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  expect(cudaDeviceGetAttribute(&ofRuntime, cudaDevAttrComputeCapabilityMajor, 0));
  check(warp == 32 && major == ofRuntime, "attributes");
}

void checkContexts() {
  CUcontext primary = nullptr, own = nullptr, current = nullptr, popped = nullptr;
  CUdevice device = -1;
  unsigned version = 0;
  expect(cuDevicePrimaryCtxRetain(&primary, 0));
#if CUDA_VERSION >= 13000
  expect(cuCtxCreate(&own, nullptr, 0, 0));
#else
  expect(cuCtxCreate(&own, 0, 0));
#endif
  expect(cuCtxGetCurrent(&current));
  check(own && own != primary && current == own, "a context is current when it is made");
  expect(cuCtxGetApiVersion(own, &version));
  check(version >= 3020, "a version");
  expect(cuCtxPopCurrent(&popped));
  check(popped == own, "the last is popped");
  expect(cuCtxPushCurrent(primary));
  expect(cuCtxSetCurrent(own));
  expect(cuCtxGetDevice(&device));
  check(device == 0, "a device");
  expect(cuCtxDestroy(own));
  expect(cuCtxSetCurrent(primary));
  expect(cuCtxGetCurrent(&current));
  check(current == primary, "set as current");
  expect(cuCtxSynchronize());
}

void checkMemory() {
  CUdeviceptr in = 0, out = 0, base = 0;
  size_t size = 0, available = 0, total = 0;
  void* host = nullptr;
  expect(cuMemAlloc(&in, bytes));
  expect(cuMemAlloc(&out, bytes));
  expect(cuMemAlloc(&base, 0), CUDA_ERROR_INVALID_VALUE);
  expect(cuMemAllocHost(&host, bytes));
  expect(cuMemGetInfo(&available, &total));
  check(available < total, "memory is used");
  auto* numbers = static_cast<int*>(host);
  for (int index = 0; index < count; ++index)
    numbers[index] = index;
  expect(cuMemcpyHtoD(in, numbers, bytes));
  scale<<<count / 128, 128>>>(pointer(in), pointer(out), 3);
  expectLaunched();
  expect(cuMemcpyDtoH(numbers, out, bytes));
  check(numbers[0] == 1 && numbers[count - 1] == 3 * (count - 1) + 1, "what a kernel wrote");

  CUmemorytype type{};
  unsigned isManaged = 1;
  CUcontext context = nullptr;
  expect(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, out + 4));
  expect(cuPointerGetAttribute(&isManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED, out));
  expect(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, out));
  check(type == CU_MEMORYTYPE_DEVICE && !isManaged && context, "attributes of device memory");
  int onStack = 0;
  const auto foreign = reinterpret_cast<CUdeviceptr>(&onStack);
  expect(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, foreign),
         CUDA_ERROR_INVALID_VALUE);
  expect(cuMemGetAddressRange(&base, &size, out + 100));
  check(base == out && size >= bytes, "the allocation around an address");
  size_t rangeBytes = 0;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                      CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* values[] = {&base, &rangeBytes};
  base = 0;
  expect(cuPointerGetAttributes(2, attributes, values, out + 100));
  check(base == out && rangeBytes == size, "range attributes");
  expect(cuMemFree(in));
  expect(cuMemFree(out));
  expect(cuMemFreeHost(host));
}

void checkFills() {
  CUdeviceptr memory = 0;
  int words[64];
  unsigned short halves[128];
  expect(cuMemAlloc(&memory, sizeof words));
  expect(cuMemsetD32(memory, 0x01020304, 64));
  expect(cuMemsetD16(memory + 8, 0x0506, 2));
  expect(cuMemsetD8(memory + 16, 7, 4));
  expect(cuMemcpyDtoH(words, memory, sizeof words));
  check(words[0] == 0x01020304 && words[63] == words[0], "words");
  check(words[2] == 0x05060506 && words[3] == words[0] && words[4] == 0x07070707, "parts");
  expect(cuMemsetD2D16(memory, 64, 9, 4, 3));
  expect(cuMemcpyDtoH(halves, memory, sizeof halves));
  check(halves[0] == 9 && halves[3] == 9 && halves[4] != 9 && halves[67] == 9 && halves[96] != 9,
        "rows");
  expect(cuMemsetD32(memory + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  expect(cuMemFree(memory));
}

void checkPlanes() {
  constexpr size_t width = 40, height = 5, hostPitch = 48;
  CUdeviceptr memory = 0;
  size_t pitch = 0;
  char there[height * hostPitch], back[height * hostPitch] = {};
  for (size_t index = 0; index < sizeof there; ++index)
    there[index] = static_cast<char>(index);
  expect(cuMemAllocPitch(&memory, &pitch, width, height, 4));
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = there;
  copy.srcPitch = hostPitch;
  copy.srcXInBytes = 2;
  copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory;
  copy.dstPitch = pitch;
  copy.WidthInBytes = width;
  copy.Height = height - 1;
  expect(cuMemcpy2D(&copy));
  CUDA_MEMCPY3D volume{};
  volume.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  volume.srcDevice = memory;
  volume.srcPitch = pitch;
  volume.dstMemoryType = CU_MEMORYTYPE_HOST;
  volume.dstHost = back;
  volume.dstPitch = hostPitch;
  volume.WidthInBytes = width;
  volume.Height = height - 1;
  volume.Depth = 1;
  expect(cuMemcpy3D(&volume));
  check(back[0] == there[hostPitch + 2] && back[hostPitch + 3] == there[2 * hostPitch + 5],
        "rows there and back");
  expect(cuMemFree(memory));
}

void checkStreamAttributes(CUstream stream) {
  CUstream other = nullptr;
  CUstreamAttrValue policy{}, held{};
  policy.syncPolicy = CU_SYNC_POLICY_YIELD;
  expect(cuStreamCreate(&other, CU_STREAM_DEFAULT));
  expect(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &policy));
  expect(cuStreamCopyAttributes(other, stream));
  expect(cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &held));
  check(held.syncPolicy == CU_SYNC_POLICY_YIELD, "attributes of a stream");
  expect(cuStreamDestroy(other));
}

void checkStreams() {
  CUstream stream = nullptr;
  CUevent start = nullptr, stop = nullptr;
  CUdeviceptr memory = 0;
  int least = 1, greatest = 1, calls = 0, answer = 0;
  float milliseconds = -1;
  expect(cuCtxGetStreamPriorityRange(&least, &greatest));
  expect(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest));
  expect(cuEventCreate(&start, CU_EVENT_DEFAULT));
  expect(cuEventCreate(&stop, CU_EVENT_DEFAULT));
  expect(cuMemAllocAsync(&memory, bytes, stream));
  expect(cuEventRecord(start, stream));
  expect(cuMemsetD32Async(memory, 5, count, stream));
  scale<<<count / 128, 128, 0, stream>>>(pointer(memory), pointer(memory), 4);
  expect(cuEventRecord(stop, stream));
  expect(cuStreamWaitEvent(stream, stop, 0));
  expect(cuMemcpyDtoHAsync(&answer, memory + bytes - 4, 4, stream));
  expect(cuLaunchHostFunc(stream, [](void* user) { ++*static_cast<int*>(user); }, &calls));
  expect(cuStreamSynchronize(stream));
  expect(cuStreamQuery(stream));
  checkStreamAttributes(stream);
  expect(cuEventQuery(stop));
  expect(cuEventElapsedTime(&milliseconds, start, stop));
  check(answer == 21 && calls == 1 && milliseconds >= 0, "work in the order of a stream");
  expect(cuMemFreeAsync(memory, stream));
  expect(cuEventDestroy(start));
  expect(cuEventDestroy(stop));
  expect(cuStreamDestroy(stream));
}

void checkLaunches() {
  CUfunction function = nullptr;
  CUdeviceptr memory = 0;
  int one = 1, threads = 0, factor = 6, answer = 0;
  expect(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(scale)));
  expect(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  check(threads >= 128, "attributes of a function");
  expect(cuMemAlloc(&memory, bytes));
  expect(cuMemcpyHtoD(memory, &one, sizeof one));
  void* args[] = {&memory, &memory, &factor};
  expect(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr));
  struct {
    CUdeviceptr in, out;
    int factor;
  } packed{memory, memory, 2};
  size_t packedBytes = 20;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                   &packedBytes, CU_LAUNCH_PARAM_END};
  expect(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  expect(cuMemcpyDtoH(&answer, memory, sizeof answer));
  check(answer == (1 * 6 + 1) * 2 + 1, "launches of a function");
  expect(cuMemFree(memory));
  int grid = 0, block = 0;
  expect(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, 0));
  check(grid > 0 && block >= 128, "a good block");
}

void checkNames() {
  const char* text = nullptr;
  expect(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  check(text && !std::strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS"), "a name");
  expect(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
  check(text && !std::strcmp(text, "invalid argument"), "a sentence");
  expect(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  void* entry = nullptr;
  CUdriverProcAddressQueryResult result{};
  expect(cuGetProcAddress("cuDeviceGetCount", &entry, 12000, 0, &result));
  int devices = 0;
  check(entry && result == CU_GET_PROC_ADDRESS_SUCCESS &&
            !reinterpret_cast<CUresult (*)(int*)>(entry)(&devices) && devices > 0,
        "a function by its name");
  expect(cudaGetLastError()); // failures of the driver API are none of the runtime's
}

} // namespace

int main() {
  checkDevice();
  checkContexts();
  checkMemory();
  checkFills();
  checkPlanes();
  checkStreams();
  checkLaunches();
  checkNames();
  return finish("driver");
}
