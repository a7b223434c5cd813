// Loads the code object of vectorAdd that its first argument names, at addresses of its choice, and
// launches it as programs without kernels of their own do: by argument pointers, by a packed
// buffer, cooperatively, and with the grid in threads. Prints what goes wrong, then the last sum.
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

constexpr int kThreads = 256, kElements = 1000;
constexpr unsigned kBlocks = (kElements + kThreads - 1) / kThreads;

void check(hipError_t status, const char* what) {
  if (status == hipSuccess)
    return;
  std::printf("%s: %s\n", what, hipGetErrorName(status));
  std::exit(1);
}

/// Memory at `address`.
float* placed(uintptr_t address, size_t bytes) {
  hipMemAllocationProp properties{};
  auto* words = reinterpret_cast<int*>(&properties);
  words[0] = words[2] = 1; // HIP 6: pinned memory of a device; this header has HIP 5's order
  size_t granularity = 0;
  check(hipMemGetAllocationGranularity(&granularity, &properties,
                                       hipMemAllocationGranularityMinimum),
        "granularity");
  bytes = (bytes + granularity - 1) / granularity * granularity;
  void* granted = nullptr;
  check(hipMemAddressReserve(&granted, bytes, 0, reinterpret_cast<void*>(address), 0), "reserve");
  if (reinterpret_cast<uintptr_t>(granted) != address)
    std::printf("another address was granted\n");
  hipMemGenericAllocationHandle_t handle{};
  check(hipMemCreate(&handle, bytes, &properties, 0), "create");
  check(hipMemMap(granted, bytes, 0, handle, 0), "map");
  check(hipMemRelease(handle), "release");
  const hipMemAccessDesc access{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
  check(hipMemSetAccess(granted, bytes, &access, 1), "access");
  return static_cast<float*>(granted);
}

} // namespace

int main(int argc, char** argv) {
  std::ifstream file(argc > 1 ? argv[1] : "", std::ios::binary);
  std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
  hipModule_t module{};
  hipFunction_t function{};
  check(hipModuleLoadData(&module, code.data()), "load");
  code.assign(code.size(), 0); // it is ours again
  if (hipModuleGetFunction(&function, module, "noKernel") == hipSuccess)
    std::printf("a kernel was found that is not there\n");
  check(hipModuleGetFunction(&function, module, "_Z9vectorAddPKfS0_Pffi"), "function");
  int threads = 0;
  check(hipFuncGetAttribute(&threads, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function), "ask");
  if (threads < kThreads)
    std::printf("%d threads in a block\n", threads);

  constexpr size_t bytes = kElements * sizeof(float);
  float *a = placed(0x6a0000000000, bytes), *b = nullptr, *c = nullptr, *host = nullptr;
  check(hipMalloc(reinterpret_cast<void**>(&b), bytes), "b");
  check(hipMalloc(reinterpret_cast<void**>(&c), bytes), "c");
  check(hipHostMalloc(reinterpret_cast<void**>(&host), bytes, 0), "host");
  hipStream_t stream{};
  hipEvent_t begin{}, end{};
  check(hipStreamCreate(&stream), "stream");
  check(hipEventCreate(&begin), "event");
  check(hipEventCreate(&end), "event");
  for (int i = 0; i < kElements; ++i)
    host[i] = float(i);
  check(hipMemcpyAsync(a, host, bytes, hipMemcpyHostToDevice, stream), "copy");
  check(hipMemcpyAsync(b, a, bytes, hipMemcpyDeviceToDevice, stream), "copy");

  float alpha = 1;
  int n = kElements;
  void* arguments[] = {&a, &b, &c, &alpha, &n};
  check(hipEventRecord(begin, stream), "record");
  check(hipModuleLaunchKernel(function, kBlocks, 1, 1, kThreads, 1, 1, 0, stream, arguments,
                              nullptr),
        "launch");
  check(hipEventRecord(end, stream), "record");
  check(hipEventSynchronize(end), "wait");
  float milliseconds = -1;
  check(hipEventElapsedTime(&milliseconds, begin, end), "time");
  if (milliseconds < 0)
    std::printf("%g ms\n", milliseconds);

  struct {
    float *a, *b, *c;
    float alpha;
    int n;
  } packed = {a, c, c, 2, n}; // c = 2a + (a + b)
  size_t packedBytes = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                   &packedBytes, HIP_LAUNCH_PARAM_END};
  check(hipModuleLaunchKernel(function, kBlocks, 1, 1, kThreads, 1, 1, 0, stream, nullptr, extra),
        "packed");
  b = c; // c = a + c
  using Launch = hipError_t (*)(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, unsigned, hipStream_t, void**);
  // Newer than the oldest headers.
  const auto launch = reinterpret_cast<Launch>(
      dlsym(RTLD_DEFAULT, "hipModuleLaunchCooperativeKernel"));
  if (!launch)
    std::printf("no cooperative launches\n");
  else
    check(launch(function, kBlocks, 1, 1, kThreads, 1, 1, 0, stream, arguments), "cooperative");
  check(hipExtModuleLaunchKernel(function, kBlocks * kThreads, 1, 1, kThreads, 1, 1, 0, stream,
                                 arguments, nullptr, begin, end, 0),
        "extended");
  check(hipMemcpyAsync(host, c, bytes, hipMemcpyDeviceToHost, stream), "copy");
  check(hipStreamSynchronize(stream), "wait");
  for (int i = 0; i < kElements; ++i)
    if (host[i] != 6 * float(i)) {
      std::printf("element %d is %g\n", i, host[i]);
      return 1;
    }
  check(hipMemUnmap(a, (bytes + 4095) / 4096 * 4096), "unmap");
  check(hipMemAddressFree(a, (bytes + 4095) / 4096 * 4096), "free");
  check(hipModuleUnload(module), "unload");
  std::printf("%g\n", host[kElements - 1]);
}
