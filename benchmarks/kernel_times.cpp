// Sums the device time of every kernel a program launches, by name. Works on any CUDA program,
// built with mneme or not, through the driver's injection mechanism:
//   g++ -O2 -shared -fPIC kernel_times.cpp -o libkernel_times.so -lcupti
//   KERNEL_TIMES_FILE=times.json CUDA_INJECTION64_PATH=$PWD/libkernel_times.so ./app
// The file is {"<mangled name>": [nanoseconds of each launch, in order]}.
#include <cupti.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

#if CUDA_VERSION >= 13000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif

constexpr size_t kBufferBytes = size_t{8} << 20;
std::mutex mutex;
std::map<std::string, std::vector<uint64_t>> times;

void CUPTIAPI giveBuffer(uint8_t** buffer, size_t* size, size_t* maxRecords) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *maxRecords = 0;
}

void CUPTIAPI takeBuffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t validBytes) {
  const std::lock_guard lock(mutex);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, validBytes, &record) == CUPTI_SUCCESS)
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto* kernel = reinterpret_cast<const KernelRecord*>(record);
      times[kernel->name].push_back(kernel->end - kernel->start);
    }
  std::free(buffer);
}

void report() {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const char* path = std::getenv("KERNEL_TIMES_FILE");
  std::FILE* file = path ? std::fopen(path, "w") : nullptr;
  if (!file)
    return;
  const std::lock_guard lock(mutex);
  std::fputc('{', file);
  const char* separator = "";
  for (const auto& [name, launches] : times) {
    std::fprintf(file, "%s\"%s\": [", separator, name.c_str());
    for (size_t index = 0; index < launches.size(); ++index)
      std::fprintf(file, index ? ", %llu" : "%llu",
                   static_cast<unsigned long long>(launches[index]));
    std::fputc(']', file);
    separator = ",\n";
  }
  std::fputs("}\n", file);
  std::fclose(file);
}

} // namespace

extern "C" int InitializeInjection() {
  if (cuptiActivityRegisterCallbacks(giveBuffer, takeBuffer) != CUPTI_SUCCESS ||
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS)
    return 0;
  std::atexit(report);
  return 1;
}
